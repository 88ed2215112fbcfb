// What compilers printed of small programs that did not fit together.

/** tsc 7.0.2, `--pretty false`. */
export const tscPlain = `src/a.ts(2,94): error TS2554: Expected 2 arguments, but got 1.
src/b.ts(1,22): error TS2305: Module '"./core.ts"' has no exported member 'parseAll'.
src/b.ts(2,14): error TS2322: Type 'number' is not assignable to type 'string'.
src/b.ts(2,48): error TS2322: Type 'string' is not assignable to type 'number'.
`;

/** tsc 7.0.2, for people, in colours. */
export const tscPretty = `\u001b[96msrc/a.ts\u001b[0m:\u001b[93m2\u001b[0m:\u001b[93m94\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2554: \u001b[0mExpected 2 arguments, but got 1.

\u001b[7m2\u001b[0m export const total = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + parseCount(text), 0);
\u001b[7m \u001b[0m \u001b[91m                                                                                             ~~~~~~~~~~\u001b[0m

  \u001b[96msrc/core.ts\u001b[0m:\u001b[93m5\u001b[0m:\u001b[93m42\u001b[0m - An argument for 'options' was not provided.
    \u001b[7m5\u001b[0m export function parseCount(text: string, options: Options): number {
    \u001b[7m \u001b[0m \u001b[96m                                         ~~~~~~~~~~~~~~~~\u001b[0m

\u001b[96msrc/b.ts\u001b[0m:\u001b[93m1\u001b[0m:\u001b[93m22\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2305: \u001b[0mModule '"./core.ts"' has no exported member 'parseAll'.

\u001b[7m1\u001b[0m import { parseCount, parseAll } from './core.ts';
\u001b[7m \u001b[0m \u001b[91m                     ~~~~~~~~\u001b[0m

\u001b[96msrc/b.ts\u001b[0m:\u001b[93m2\u001b[0m:\u001b[93m14\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mType 'number' is not assignable to type 'string'.

\u001b[7m2\u001b[0m export const first: string = parseCount('1', { radix: '10' });
\u001b[7m \u001b[0m \u001b[91m             ~~~~~\u001b[0m

\u001b[96msrc/b.ts\u001b[0m:\u001b[93m2\u001b[0m:\u001b[93m48\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mType 'string' is not assignable to type 'number'.

\u001b[7m2\u001b[0m export const first: string = parseCount('1', { radix: '10' });
\u001b[7m \u001b[0m \u001b[91m                                               ~~~~~\u001b[0m

  \u001b[96msrc/core.ts\u001b[0m:\u001b[93m2\u001b[0m:\u001b[93m12\u001b[0m - The expected type comes from property 'radix' which is declared here on type 'Options'
    \u001b[7m2\u001b[0m   readonly radix: number;
    \u001b[7m \u001b[0m \u001b[96m           ~~~~~\u001b[0m


Found 4 errors in 2 files.

Errors  Files
     1  src/a.ts\u001b[90m:2\u001b[0m
     3  src/b.ts\u001b[90m:1\u001b[0m

`;

/** cargo check, rustc 1.95.0. */
export const cargoFull = `    Checking shapes v0.1.0 (/home/ada/rs)
error[E0432]: unresolved import \`crate::core::parse_total\`
 --> src/report.rs:1:5
  |
1 | use crate::core::parse_total;
  |     ^^^^^^^^^^^^^^^^^^^^^^^^ no \`parse_total\` in \`core\`

error[E0560]: struct \`Options\` has no field named \`base\`
 --> src/report.rs:4:42
  |
4 |     let options = crate::core::Options { base: 10 };
  |                                          ^^^^ \`Options\` does not have this field
  |
  = note: available fields are: \`radix\`

error[E0308]: mismatched types
 --> src/report.rs:5:45
  |
5 |     println!("{}", crate::core::parse_count(1, &options));
  |                    ------------------------ ^ expected \`&str\`, found integer
  |                    |
  |                    arguments to this function are incorrect
  |
note: function defined here
 --> src/core.rs:5:8
  |
5 | pub fn parse_count(text: &str, options: &Options) -> u64 {
  |        ^^^^^^^^^^^ ----------

error[E0061]: this function takes 2 arguments but 1 argument was supplied
 --> src/main.rs:5:20
  |
5 |     println!("{}", parse_count("1"));
  |                    ^^^^^^^^^^^----- argument #2 of type \`&Options\` is missing
  |
note: function defined here
 --> src/core.rs:5:8
  |
5 | pub fn parse_count(text: &str, options: &Options) -> u64 {
  |        ^^^^^^^^^^^             -----------------
help: provide the argument
  |
5 |     println!("{}", parse_count("1", /* &Options */));
  |                                   ++++++++++++++++

Some errors have detailed explanations: E0061, E0308, E0432, E0560.
For more information about an error, try \`rustc --explain E0061\`.
error: could not compile \`shapes\` (bin "shapes") due to 4 previous errors
`;

/** The same, `--message-format short`. */
export const cargoShort = `    Checking shapes v0.1.0 (/home/ada/rs)
src/report.rs:1:5: error[E0432]: unresolved import \`crate::core::parse_total\`: no \`parse_total\` in \`core\`
src/report.rs:4:42: error[E0560]: struct \`Options\` has no field named \`base\`: \`Options\` does not have this field
src/report.rs:5:45: error[E0308]: mismatched types: expected \`&str\`, found integer
src/main.rs:5:20: error[E0061]: this function takes 2 arguments but 1 argument was supplied
error: could not compile \`shapes\` (bin "shapes") due to 4 previous errors
`;

/** gcc 12. */
export const gccOutput = `main.c: In function ‘main’:
main.c:3:31: error: ‘struct options’ has no member named ‘base’
    3 |   struct options options = { .base = 10 };
      |                               ^~~~
main.c:4:10: error: too few arguments to function ‘parse_count’
    4 |   return parse_count("1") + parse_total("2");
      |          ^~~~~~~~~~~
In file included from main.c:1:
core.h:2:5: note: declared here
    2 | int parse_count(const char *text, struct options *options);
      |     ^~~~~~~~~~~
main.c:4:29: warning: implicit declaration of function ‘parse_total’ [-Wimplicit-function-declaration]
    4 |   return parse_count("1") + parse_total("2");
      |                             ^~~~~~~~~~~
main.c:3:18: warning: unused variable ‘options’ [-Wunused-variable]
    3 |   struct options options = { .base = 10 };
      |                  ^~~~~~~
`;

/** Python 3.11: two tracebacks and a syntax error. */
export const pythonOutput = `Traceback (most recent call last):
  File "/home/ada/py/report.py", line 8, in <module>
    show()
  File "/home/ada/py/report.py", line 5, in show
    print(parse_count("1"))
          ^^^^^^^^^^^^^^^^
TypeError: parse_count() missing 1 required positional argument: 'radix'
Traceback (most recent call last):
  File "/home/ada/py/bad.py", line 2, in <module>
    core.parse_total("1")
    ^^^^^^^^^^^^^^^^
AttributeError: module 'core' has no attribute 'parse_total'. Did you mean: 'parse_count'?
  File "/home/ada/py/syntax.py", line 1
    def x(:
          ^
SyntaxError: invalid syntax
`;

/** go build, written by hand after its documentation: Go was not at hand. */
export const goOutput = `# example.com/shapes
./main.go:7:24: not enough arguments in call to core.ParseCount
	have (string)
	want (string, int)
report/report.go:12:2: undefined: core.ParseTotal
`;

/** clang, written by hand after its documentation. */
export const clangOutput = `main.c:4:24: error: too few arguments to function call, expected 2, have 1
  return parse_count("1");
         ~~~~~~~~~~~    ^
./core.h:2:5: note: 'parse_count' declared here
int parse_count(const char *text, struct options *options);
    ^
1 error generated.
`;

/** ESLint 9, stylish, written by hand after its documentation. */
export const eslintOutput = `
/home/ada/src/a.ts
  2:94  error    Unsafe call of a type that could not be resolved  @typescript-eslint/no-unsafe-call
  3:1   warning  Unexpected console statement                      no-console

✖ 2 problems (1 error, 1 warning)
`;
