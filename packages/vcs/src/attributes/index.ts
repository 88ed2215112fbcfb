export type { AttributeFile } from './attribute-file.ts';
export { compileGlob, matchesGlob, type Glob } from './glob.ts';
export {
  attributeFilesOf,
  attributesOf,
  isAttributeFile,
  readAttributeFile,
  type PathAttributes,
} from './attributes.ts';
export { diskLineEndsOf, lineEndsOf, type DiskLineEnds, type LineEnds, type LineEndSettings } from './line-ends.ts';
