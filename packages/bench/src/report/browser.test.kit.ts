/** What a person would see of a page, in Chromium. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { chromium } from 'playwright-core';

import { withTempDir } from '../harness/temp-dir.ts';

const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path)); // prettier-ignore

export const hasBrowser = browser !== undefined;

export interface Shown {
  /** As many at each width. */
  readonly pictures: number;
  /** Texts that lie on others, stick out or cannot be read, at a wide and a narrow window. */
  readonly faults: readonly string[];
  /** What the page asked for, itself included. */
  readonly requests: number;
  /** Errors and words on the console. */
  readonly said: readonly string[];
}

/** Opens a page, and takes a picture of it where `picture` names a file. */
export const show = (html: string, picture = process.env['MOUND_PICTURE']): Promise<Shown> =>
  withTempDir(undefined, async (dir) => {
    const file = join(dir, 'report.html');
    await writeFile(file, html);
    const running = await chromium.launch({ executablePath: browser ?? '', args: ['--no-sandbox'] });
    try {
      const page = await running.newPage();
      let requests = 0;
      const said: string[] = [];
      page.on('request', () => requests++);
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(error.message));
      await page.goto(pathToFileURL(file).href);
      const faults: string[] = [];
      let pictures = 0;
      for (const width of [1200, 720, 380]) {
        await page.setViewportSize({ width, height: 800 });
        const shown = await page.locator('svg:visible').count();
        if (pictures !== 0 && shown !== pictures) faults.push(`${width} wide: ${shown} pictures, not ${pictures}`);
        pictures = shown;
        const found: string[] = await page.evaluate(faultsOfLayout);
        faults.push(...found.map((fault) => `${width} wide: ${fault}`));
        for (const colorScheme of picture === undefined ? [] : (['light', 'dark'] as const)) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: `${picture}-${width}-${colorScheme}.png`, fullPage: true });
        }
      }
      return { pictures, faults, requests, said };
    } finally {
      await running.close();
    }
  });

/** Runs in the page, whose types are not those of this program. */
const faultsOfLayout = `(() => {
  const faults = [];
  if (document.documentElement.scrollWidth > window.innerWidth) faults.push('the page is wider than the window');
  for (const picture of document.querySelectorAll('svg')) {
    const frame = picture.getBoundingClientRect();
    const texts = [...picture.querySelectorAll('text')].map((node) => [node.textContent, node.getBoundingClientRect()]);
    const letters = (12 * frame.width) / (picture.viewBox.baseVal.width || 1);
    if (frame.width > 0 && letters < 10) faults.push('letters of ' + letters.toFixed(1) + ' pixels: ' + picture.getAttribute('aria-label'));
    for (const [text, box] of texts) {
      const isInside = box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.bottom <= frame.bottom + 2;
      if (!isInside) faults.push(text + ' sticks out');
      for (const [other, around] of texts) {
        const overlap = Math.min(box.right, around.right) - Math.max(box.left, around.left);
        const height = Math.min(box.bottom, around.bottom) - Math.max(box.top, around.top);
        if (box !== around && overlap > 1 && height > 3) faults.push(text + ' lies on ' + other);
      }
    }
  }
  return faults;
})()`;
