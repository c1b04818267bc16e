// SPDX-License-Identifier: MIT
// The HTML report in a real browser: Chromium measures where its texts lie, at the width of a
// telephone and of a screen, light and dark, and as printed. Exit status 77 (Skipped) where there
// is no Chromium.
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include <boost/test/included/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tests/tools/report_fixture.h"

namespace {

using namespace mla::testing;
using Json = nlohmann::json;

constexpr const char* kChromium = "/usr/bin/chromium";

// Every text box of the framed page against its neighbours, its drawing and the window; and the
// contrast of every text with what is behind it. Answers with a list of complaints.
constexpr const char* kProbe = R"js(
const shown = r => r.width > 0.5 && r.height > 0.5;
const clip = (r, c) => ({left: Math.max(r.left, c.left), right: Math.min(r.right, c.right),
                         top: Math.max(r.top, c.top), bottom: Math.min(r.bottom, c.bottom)});
function luminance(color) {
  const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}
function paper(view, element) {
  for (let e = element; e; e = e.parentElement) {
    const color = view.getComputedStyle(e).backgroundColor;
    if (!/, 0\)$/.test(color)) return color;
  }
  return 'rgb(255, 255, 255)';
}
function boxes(view) {
  const found = [];
  const walk = view.document.createTreeWalker(view.document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility() || parent.closest('title, desc')) continue;
    const range = view.document.createRange();
    range.selectNodeContents(node);
    const svg = parent.closest('svg'), scroll = parent.closest('.scroll');
    for (const rect of svg ? [parent.getBoundingClientRect()] : range.getClientRects()) {
      if (shown(rect)) found.push({rect, text: node.data.trim().slice(0, 40), parent, svg, scroll});
    }
  }
  return found;
}
function complaints(view) {
  const list = [], all = boxes(view), width = view.innerWidth;
  const root = view.document.documentElement;
  if (root.scrollWidth > width) list.push(`the page is ${root.scrollWidth} px wide`);
  if (view.document.title != 'Tuning report') list.push('a name of the database was executed');
  for (const b of all) {
    const frame = b.svg ? b.svg.getBoundingClientRect() : {left: 0, right: width, top: 0, bottom: 1e9};
    const r = b.rect;
    if (!b.scroll && (r.left < frame.left - 1 || r.right > frame.right + 1 ||
                      r.top < frame.top - 1 || r.bottom > frame.bottom + 1)) {
      list.push(`cut off: ${b.text}`);
    }
    const style = view.getComputedStyle(b.parent);
    const on_cell = /on-(light|dark)/.test(b.parent.getAttribute('class') || '');
    const ink = b.svg ? style.fill : style.color;
    if (!on_cell && contrast(ink, paper(view, b.parent)) < 4.5) list.push(`faint: ${b.text}`);
    b.box = b.scroll ? clip(r, b.scroll.getBoundingClientRect()) : r;
  }
  all.sort((a, b) => a.box.top - b.box.top);
  for (let i = 0; i < all.length; ++i) {
    for (let j = i + 1; j < all.length && all[j].box.top < all[i].box.bottom - 2; ++j) {
      const c = clip(all[i].box, all[j].box);
      if (c.right - c.left > 1 && c.bottom - c.top > 2) {
        list.push(`overlap: ${all[i].text} / ${all[j].text}`);
      }
    }
  }
  return {width, dark: view.matchMedia('(prefers-color-scheme: dark)').matches,
          texts: all.length, complaints: [...new Set(list)].slice(0, 20)};
}
onload = () => {
  const results = [...document.querySelectorAll('iframe')].map(frame => {
    for (const d of frame.contentDocument.querySelectorAll('details')) d.open = true;
    return complaints(frame.contentWindow);
  });
  const out = document.createElement('pre');
  out.textContent = '@@' + btoa(unescape(encodeURIComponent(JSON.stringify(results)))) + '@@';
  document.body.append(out);
};
)js";

std::string decode_base64(const std::string& text) {
  std::string out;
  unsigned bits = 0, count = 0;
  for (const char c : text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t digit = digits.find(c);
    if (digit == std::string::npos) continue;
    bits = bits << 6 | static_cast<unsigned>(digit);
    count += 6;
    if (count >= 8) out += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  return out;
}

// What the probe says of a page of the fixture's folder in frames of these widths.
Json probe(const std::string& name, const std::vector<int>& widths, bool dark) {
  const std::string path = report().file("probe.html");
  std::ofstream page(path);
  page << "<!DOCTYPE html><meta charset=\"utf-8\"><body>";
  for (const int width : widths) {
    page << "<iframe src=\"" << name << "\" style=\"border:0;height:4000px;width:" << width
         << "px\"></iframe>";
  }
  page << "<script>" << kProbe << "</script>";
  page.close();
  ProgramOptions options;
  options.environment = {{"HOME", report().file("home")}};
  options.program = kChromium;
  const ProgramResult result =
      run({"--headless",
           "--no-sandbox",
           "--disable-gpu",
           "--allow-file-access-from-files",
           "--window-size=1800,1000",
           std::string("--blink-settings=preferredColorScheme=") + (dark ? "0" : "1"),
           "--user-data-dir=" + report().file(name + (dark ? ".dark" : ".light")),
           "--virtual-time-budget=20000",
           "--dump-dom",
           "file://" + path},
          options);
  const size_t begin = result.out.rfind("<pre>@@");
  const size_t end = result.out.rfind("@@</pre>");
  BOOST_TEST_REQUIRE((begin != std::string::npos && end != std::string::npos), result.err);
  return Json::parse(decode_base64(result.out.substr(begin + 7, end - begin - 7)));
}

void expect_readable(bool dark) {
  const std::vector<int> widths = {420, 1280};
  const Json results = probe("report.html", widths, dark);
  BOOST_TEST_REQUIRE(results.size() == widths.size());
  for (size_t i = 0; i < widths.size(); ++i) {
    const Json& result = results[i];
    BOOST_TEST(result["width"] == widths[i]);
    BOOST_TEST(result["dark"] == dark);
    BOOST_TEST(result["texts"] > 500);
    BOOST_TEST(result["complaints"].empty(), result["complaints"].dump(1));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_probe_complains_of_a_page_that_deserves_it) {
  std::ofstream(report().file("bad.html"))
      << "<!DOCTYPE html><title>Tuning report</title><body style=\"background:#fff\">"
         "<svg width=\"100\" height=\"40\"><text x=\"5\" y=\"20\">under</text>"
         "<text x=\"8\" y=\"21\">over</text><text x=\"80\" y=\"38\">too long</text></svg>"
         "<p style=\"color:#bbb\">pale</p><p style=\"width:900px\">wide</p>";
  const std::string complaints = probe("bad.html", {420}, false)[0]["complaints"].dump();
  for (const char* part :
       {"overlap: under / over", "cut off: too long", "faint: pale", "the page is 908 px wide"}) {
    BOOST_TEST(complaints.find(part) != std::string::npos, part << ": " << complaints);
  }
}

BOOST_AUTO_TEST_CASE(nothing_overlaps_or_is_cut_off_in_the_light) {
  expect_readable(false);
}

BOOST_AUTO_TEST_CASE(nothing_overlaps_or_is_cut_off_in_the_dark) {
  expect_readable(true);
}

BOOST_AUTO_TEST_CASE(nothing_overlaps_or_is_cut_off_on_paper) {
  constexpr int kA4 = 703;  // CSS pixels between margins of 12 mm
  std::string page = report().page();
  const std::string_view print = "@media print", screen = "@media screen";
  int rules = 0;
  for (size_t at = 0; (at = page.find(print, at)) != std::string::npos; ++rules)
    page.replace(at, print.size(), screen);
  BOOST_TEST_REQUIRE(rules > 0);
  std::ofstream(report().file("paper.html")) << page;
  const Json result = probe("paper.html", {kA4}, false)[0];
  BOOST_TEST(result["width"] == kA4);
  BOOST_TEST(result["texts"] > 500);
  BOOST_TEST(result["complaints"].empty(), result["complaints"].dump(1));
}

int main(int argc, char** argv) {
  if (!std::filesystem::exists(kChromium)) {
    std::cout << "skipped: " << kChromium << ": not installed\n";
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
