/**
 * The style of the HTML report, light and dark by the reader's setting, and on paper. Every class begins with `r-`,
 * since the plan's graph brings a style sheet of its own. Every colour comes with a word or a pattern that says the
 * same.
 */
export const pageStyle = `
:root{color-scheme:light dark;--paper:#fff;--raised:#f6f8fa;--ink:#1f2328;--quiet:#59636e;--line:#d1d9e0;--good:#1a7f37;--change:#9a6700;--danger:#cf222e;--note:#0969da;--request:#0969da;--wait:#9ec5f3;--critical:#bc4c00}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--raised:#161b22;--ink:#e6edf3;--quiet:#9198a1;--line:#3d444d;--good:#3fb950;--change:#d29922;--danger:#f85149;--note:#58a6ff;--request:#58a6ff;--wait:#1f4b85;--critical:#f0883e}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:82rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem;padding-bottom:.25rem;border-bottom:1px solid var(--line)}
code{font:.87em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
a{color:var(--note)}:focus-visible{outline:3px solid var(--note);outline-offset:2px;border-radius:3px}
.r-skip{position:absolute;left:-99rem}.r-skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.3rem .6rem;z-index:9}
.r-quiet{color:var(--quiet)}.r-good{color:var(--good)}.r-change{color:var(--change)}.r-danger{color:var(--danger)}.r-note{color:var(--note)}
.r-verdict{display:inline-block;border:1.5px solid;border-radius:999px;padding:.1rem .8rem;font-weight:600;margin:.4rem 0}
.r-exposed{margin:.3rem 0 1rem;padding:0;list-style:none}.r-exposed b{display:inline-block;width:1.2em}
.r-facts{display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin:.6rem 0;padding:0;list-style:none}.r-facts b{font-variant-numeric:tabular-nums}
.r-scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .7rem;border-bottom:1px solid var(--line)}tr:last-child>td,tr:last-child>th{border-bottom:0}
th{font-weight:600}thead th{background:var(--raised);font-size:.85rem;color:var(--quiet)}td.r-number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td:first-child{min-width:9.5rem}ul.r-list{margin:.2rem 0;padding-left:1.2rem}
.r-card{border:1px solid var(--line);border-left:4px solid;border-radius:6px;padding:.5rem .9rem;margin:.5rem 0;overflow-wrap:anywhere}.r-card p{margin:.2rem 0;color:var(--ink)}
summary{cursor:pointer;padding:.3rem 0;color:var(--note)}
.r-gantt{min-width:44rem;padding:.4rem .8rem .6rem}
.r-axis,.r-row{display:grid;grid-template-columns:minmax(7rem,16rem) 1fr;gap:.8rem;align-items:center}
.r-axis{font-size:.78rem;color:var(--quiet);height:1.5rem}.r-axis>div{position:relative;height:100%}.r-axis span span{position:absolute;transform:translateX(-50%);white-space:nowrap}.r-axis span span:first-child{transform:none}.r-axis span span:last-child{transform:translateX(-100%)}.r-axis>span{position:relative;height:1.2rem}
.r-row{padding:.12rem 0;border-top:1px solid var(--line)}.r-row>code{overflow-wrap:anywhere}
.r-track{position:relative;background:repeating-linear-gradient(to right,transparent 0 calc(20% - 1px),var(--line) calc(20% - 1px) 20%)}
.r-bar{position:absolute;height:1.15rem;min-width:5px;border-radius:3px;display:flex;overflow:visible;cursor:default;box-shadow:0 0 0 1px var(--paper)}
.r-bar i{display:block;height:100%}.r-bar .r-requests{background:var(--request);border-radius:3px 0 0 3px;min-width:2px}
.r-bar .r-waits{background:repeating-linear-gradient(45deg,var(--wait) 0 5px,transparent 5px 8px) var(--raised);border:1px solid var(--request);border-left:0;border-radius:0 3px 3px 0}
.r-bar .r-only{border-radius:3px}
.r-bar.r-path{box-shadow:0 0 0 2px var(--critical)}.r-bar.r-path::before{content:"";position:absolute;left:0;right:0;bottom:-5px;height:3px;background:var(--critical)}
.r-bar.r-failed i{background:var(--danger);border-color:var(--danger)}.r-bar.r-failed::after{content:"\\2717";color:#fff;position:absolute;left:3px;font-size:.8rem;line-height:1.15rem}
.r-tip{display:none;position:absolute;left:0;top:1.45rem;z-index:5;background:var(--ink);color:var(--paper);border-radius:5px;padding:.3rem .6rem;font-size:.8rem;width:max-content;max-width:24rem;pointer-events:none}
.r-bar.r-late .r-tip{left:auto;right:0}.r-bar:hover .r-tip,.r-bar:focus .r-tip{display:block}
.r-up .r-tip{top:auto;bottom:1.45rem}.r-room{height:4rem}
.r-legend{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;font-size:.85rem;color:var(--quiet);margin:.5rem 0}.r-legend .r-bar{position:relative;display:inline-flex;width:1.8rem;height:.8rem;vertical-align:-1px;margin-right:.4rem}
.r-graph svg{display:block;max-width:none;height:auto}
@media (max-width:46rem){body{padding:.8rem}.r-scroll table,.r-scroll tbody,.r-scroll tr,.r-scroll td{display:block;width:auto}.r-scroll thead{position:absolute;left:-999rem}.r-scroll td{border-bottom:0;padding:.15rem .7rem;overflow-wrap:anywhere}.r-scroll tr{border-bottom:1px solid var(--line);padding:.4rem 0}td.r-number{display:inline-block!important;text-align:left}td.r-number:not(:empty)::before{color:var(--quiet)}td.r-number:nth-child(3):not(:empty)::before{content:"at "}td.r-number:nth-child(4):not(:empty)::before{content:"took "}td.r-number:nth-child(5):not(:empty)::before{content:"waited "}.r-gantt{min-width:0}.r-axis{display:none}.r-row{grid-template-columns:1fr;gap:.1rem}}
@media print{:root{--paper:#fff;--raised:#f6f8fa;--ink:#000;--quiet:#444;--line:#bbb;--good:#1a7f37;--change:#7a5200;--danger:#b0101c;--request:#0969da;--wait:#9ec5f3;--critical:#bc4c00}body{max-width:none;padding:0;font-size:11px}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}nav,.r-skip,.r-tip{display:none!important}.r-scroll{overflow:visible;border:0}.r-gantt{min-width:0}.r-graph svg{max-width:100%}tr,.r-row,.r-card{break-inside:avoid}h2{break-after:avoid}}
`.trim();
