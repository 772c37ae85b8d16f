/** Page that is difficult to convert, and texts that a reader must find in the result. */
export interface DifficultPage {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly contentType?: string;
  readonly includes: readonly string[];
  readonly excludes?: readonly string[];
  /** The page exceeds a limit: its text may be cut, which the result must state. */
  readonly mayBeCut?: boolean;
}

const times = (count: number, text: string | ((index: number) => string)): string =>
  typeof text === "string"
    ? text.repeat(count)
    : Array.from({ length: count }, (_value, index) => text(index)).join("");
const nested = (count: number, open: string, close: string): string =>
  `<p>first words</p>${times(count, open)}deep${times(count, close)}`;
const MIB = 1024 * 1024;

export const difficultPages: readonly DifficultPage[] = [
  {
    name: "nested tables for layout",
    body: "<table><tr><td>menu<td><table><tr><th>Year<th>Value<tr><td>1999<td>42</table></table>",
    includes: ["menu", "| Year | Value |", "| 1999 | 42 |"],
  },
  {
    name: "a table in a cell of a data table",
    body: "<table><tr><th>A<th>B<tr><td>1<td><table><tr><td>x<td>y<tr><td>z<td>w</table></table>",
    includes: ["| A | B |", "| 1 | x, y; z, w |"],
  },
  {
    name: "tables nested 300 deep",
    body: nested(300, "<table><tr><td>a<td>", "</table>"),
    includes: ["first words", "deep"],
  },
  {
    name: "spans of rows and columns, and pipes",
    body: "<table><tr><th colspan=2>Name<th>N<tr><td rowspan=2>Ada<td>a|b<td>1<tr><td>c<td>2</table>",
    includes: ["| Name |  | N |", "| Ada | a\\|b | 1 |", "| Ada | c | 2 |"],
  },
  {
    name: "a span of a billion columns",
    body: "<table><tr><th colspan=1000000000 rowspan=1000000000>A<th>B<tr><td>1<td>2</table>",
    includes: ["A", "1", "2"],
  },
  {
    name: "links around pictures and headings, with parentheses in the URL",
    body: "<a href='/a_(b)'><img src=/i.png alt='A [b]'></a><a href=c><h2>Title</h2></a><a href=#top>top</a><a href='javascript:x()'>run</a><img src='data:image/png;base64,AA' alt=inline>",
    includes: [
      "[![A [b]](https://example.org/i.png)](https://example.org/a_%28b%29)",
      "## [Title](https://example.org/c)",
      "top",
      "run",
      "inline",
    ],
    excludes: ["javascript:", "data:"],
  },
  {
    name: "formulas, quotations, notes and folded text",
    body: "x<sup>2</sup> H<sub>2</sub>O 2<sup>n+1</sup> a<sup><a href=/n>[1]</a></sup> <math alttext='\\frac{1}{2}'><mn>1</mn><mn>2</mn></math> <q>quote</q><details><summary>more</summary>folded</details><noframes>framed</noframes>",
    includes: ["x^2 H_2O 2^(n+1) a[[1]](https://example.org/n) $\\frac{1}{2}$ “quote”", "more\n\nfolded", "framed"],
  },
  {
    name: "a table without header cells",
    body: "<table><caption>Sums</caption><tr><td>1<td>2<tr><td>3<td>4</table>",
    includes: ["Sums", "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"],
  },
  {
    name: "a table of 5,000 rows",
    body: `<table><tr><th>n<th>square</tr>${times(5000, (n) => `<tr><td>${n}<td>${n * n}</tr>`)}</table>`,
    includes: ["| 17 | 289 |", "| 4999 | 24990001 |"],
  },
  {
    name: "elements that are never closed, and ends without starts",
    body: "</div></p></b><div><p>one<p>two<ul><li>three<li>four</table><b>five<i>six</b>seven</i><p>eight",
    includes: ["one\n\ntwo", "- three\n- four", "five", "seven", "eight"],
  },
  {
    name: "emphasis that crosses blocks",
    body: "<b><p>bold</b> plain</p><em><div>x</em>y</div>",
    includes: ["bold", "plain", "x", "y"],
    excludes: ["**\n", "<"],
  },
  {
    name: "tags cut at the end",
    body: "<h1>Title</h1><p>text <a href='https://example.org/",
    includes: ["# Title", "text"],
  },
  {
    name: "tags inside of tags",
    body: '<p>a < b and c > d <<b>e</b> <scr<script>ipt>alert(1)</script> f</p><p title="</p><script>">g</p>',
    includes: ["a < b and c > d", "e", "f", "g"],
  },
  {
    name: "scripts, styles and templates",
    body: "<script>var a = '<p>no1</p>'</script><style>p:after{content:'no2'}</style><template><p>no3</template><noscript>yes</noscript><svg><text>no4</text></svg><p>text",
    includes: ["yes", "text"],
    excludes: ["no1", "no2", "no3", "no4"],
  },
  {
    name: "a script that never ends",
    body: `<h1>Title</h1><p>text</p><script>${times(50_000, "if (a < b) c(); ")}`,
    includes: ["# Title", "text"],
    excludes: ["if (a"],
  },
  {
    name: "hidden elements",
    body:
      "<style>.gone, p.off{display:none} @media print{.print{display:none}}</style><p hidden>no1</p><p style='DISPLAY : NONE !important'>no2</p>" +
      "<p style='d\\69 splay:/**/none'>no3</p><div aria-hidden=true>no4</div><p class='a gone'>no5</p><p class=off>no6</p><p style='font-size:0px'>no7</p>" +
      "<p style='position:absolute;left:-9999px'>no8</p><p style='opacity:0.0'>no9</p><dialog>noA</dialog><p style='color:transparent'>noB</p>" +
      "<p style='height:0;overflow:hidden'>noC</p><p class=print>shown</p><p>text</p>" +
      "<p style='margin-left:calc(-99999px)'>noD</p><p style='transform:translateX(-9999px)'>noE</p><p style='position:absolute;width:1px;height:1px;overflow:hidden'>noF</p>" +
      "<p style='clip-path:circle(0)'>noG</p><p style='font:0/0 a'>noH</p><p style='display&colon;none'>noI</p><p STYLE=display:none style=x>noJ</p>" +
      `<p style='${times(3000, " ")}display:none'>noK</p><style>@media screen{@layer x{.nested{visibility:hidden}}}</style><p class=nested>noL</p>` +
      "<p style='font:1em/1.5 a;font-size:.9em'>normal size</p><p style='color:transparent;background-clip:text'>gradient</p>",
    includes: ["shown", "text", "normal size", "gradient"],
    excludes: [
      "no1",
      "no2",
      "no3",
      "no4",
      "no5",
      "no6",
      "no7",
      "no8",
      "no9",
      "noA",
      "noB",
      "noC",
      "noD",
      "noE",
      "noF",
      "noG",
      "noH",
      "noI",
      "noJ",
      "noK",
      "noL",
    ],
  },
  {
    name: "a page that its scripts would show",
    body: "<style>.app{visibility:hidden}</style><div class=app><h1>Title</h1><p>text</div>",
    includes: ["# Title", "text"],
  },
  {
    name: "invisible characters",
    body: "<p>in\u200bvisi\u00adble \u202etext\u202c \u{e0041}\u{e0042}end&nbsp;&nbsp;x",
    includes: ["invisible text end x"],
  },
  {
    name: "UTF-8 that the header calls latin-1",
    body: "<meta charset=iso-8859-1><h1>Größe Ωmega 日本</h1>",
    contentType: "text/html; charset=iso-8859-1",
    includes: ["# Größe Ωmega 日本"],
  },
  {
    name: "windows-1252 that the header calls UTF-8",
    body: Buffer.from("<p>caf\xe9 na\xefve \x80 5 \x96 \x93quoted\x94</p>", "latin1"),
    contentType: "text/html; charset=utf-8",
    includes: ["café naïve € 5 – “quoted”"],
  },
  {
    name: "Shift_JIS that only a meta element declares",
    body: Buffer.concat([
      Buffer.from('<meta charset="shift_jis"><p>'),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]),
      Buffer.from("</p>"),
    ]),
    contentType: "text/html",
    includes: ["日本語"],
  },
  {
    name: "UTF-16 with a byte order mark",
    body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("<p>zażółć gęślą jaźń</p>", "utf16le")]),
    includes: ["zażółć gęślą jaźń"],
  },
  {
    name: "UTF-16 that the header calls UTF-8, without a byte order mark",
    body: Buffer.from("<p>some plain text, zażółć gęślą jaźń</p>", "utf16le"),
    includes: ["zażółć gęślą jaźń"],
  },
  {
    name: "UTF-8 that the header calls UTF-16",
    body: "<p>some plain text, zażółć gęślą jaźń</p>",
    contentType: "text/html; charset=utf-16",
    includes: ["zażółć gęślą jaźń"],
  },
  {
    name: "ISO-2022-JP",
    body: Buffer.concat([
      Buffer.from("<p>"),
      Buffer.from([0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42]),
    ]),
    contentType: "text/html; charset=iso-2022-jp",
    includes: ["日本"],
  },
  {
    name: "an unknown charset, and bytes of zero",
    body: Buffer.from("<p>a\0b plain text</p>"),
    contentType: "text/html; charset=klingon",
    includes: ["plain text"],
  },
  {
    name: "5 MB of paragraphs",
    body: `<h1>Long</h1>${times(5 * 10 * 1024, (n) => `<p>Paragraph ${n} has about one hundred characters of text, so that the whole page has five million.</p>`)}`,
    includes: ["# Long", "Paragraph 1000 has"],
    mayBeCut: true,
  },
  {
    name: "5 MB of links in one list",
    body: `<ol>${times(80_000, (n) => `<li><a href="/page/${n}?a=b&amp;c=d">Link number ${n}</a></li>`)}</ol>`,
    includes: ["1. [Link number 0](https://example.org/page/0?a=b&c=d)", "Link number 5000"],
    mayBeCut: true,
  },
  {
    name: "5 MB of text in one element",
    body: `<p>begin ${times((5 * MIB) / 8, "abc def ")}</p>`,
    includes: ["begin abc def"],
    mayBeCut: true,
  },
  { name: "100,000 nested elements", body: nested(100_000, "<div>", "</div>"), includes: ["first words", "deep"] },
  {
    name: "100,000 nested elements of formatting",
    body: nested(100_000, "<b><i class=x>", ""),
    includes: ["first words", "deep"],
  },
  {
    name: "50,000 nested lists and quotations",
    body: nested(50_000, "<ul><li><blockquote>a", ""),
    includes: ["first words"],
    mayBeCut: true,
  },
  {
    name: "100,000 empty elements",
    body: `<p>first words</p>${times(100_000, "<div></div><span></span>")}<p>last words</p>`,
    includes: ["first words"],
    mayBeCut: true,
  },
  {
    name: "one tag with 100,000 attributes, and an attribute of 1 MB",
    body: `<p ${times(100_000, (n) => `a${n}=b `)}>first words</p><a href="/${times(MIB, "x")}">link text</a>`,
    includes: ["first words", "link text"],
  },
  {
    name: "1 MB of opening brackets, back-ticks and spaces",
    body: `<p>first words</p><code> ${times(200_000, "` ")}</code><p>${times(400_000, "[<")}<pre> ${times(200_000, " \u00a0")}x</pre>`,
    includes: ["first words"],
  },
  {
    name: "long runs of spaces and lines in code",
    body: `<p>first words</p><pre>begin${times(300_000, " ")}middle${times(300_000, "\n")}x${times(50_000, " \n")}end</pre>`,
    includes: ["first words", "begin", "middle", "end"],
  },
  {
    name: "9,000 line breaks",
    body: `<p>first words<br>second line${times(4_500, "<br> &nbsp;")}${times(4_500, "<b><br></b>")}last words<p>one<br><br>two`,
    includes: ["first words\nsecond line\n", "last words", "one\n\ntwo"],
  },
  {
    name: "200 KB of hostile style sheets",
    body: `<style>${times(20_000, "@import ")}${times(10_000, "{/*")}${times(2_000, (n) => `.c{display:block}.c${n}{display:none}`)}</style><p class=c>text</p>`,
    includes: ["text"],
  },
  {
    name: "formatting that is opened again in each of 20,000 paragraphs",
    body: `<p>first words</p>${times(12, (n) => `<b x=${n}><i y=${n}><font size=${n}>`)}${times(20_000, "<p>a")}`,
    includes: ["first words"],
    mayBeCut: true,
  },
];
