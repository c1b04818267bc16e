// SPDX-License-Identifier: MIT
// The HTML report as text: what it has, what it links, what a hostile name becomes.
#define BOOST_TEST_MODULE tools_report_page
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/report_fixture.h"

using namespace mla::testing;
using Json = nlohmann::json;

BOOST_AUTO_TEST_CASE(names_from_the_database_stay_text) {
  const std::string page = report().page();
  BOOST_TEST(page.find("<script") == std::string::npos);
  BOOST_TEST(
      page.find("&lt;script&gt;document.title=&#39;run&#39;&lt;/script&gt;&quot;&#39;&gt;&lt;b"
                "&gt;&amp;amp;\xEF\xBF\xBD") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_page_asks_for_nothing_from_elsewhere) {
  const std::string page = report().page();
  for (const char* word : {"http://", "https://", "src=", "@import", "<link", "<iframe"}) {
    BOOST_TEST(page.find(word) == std::string::npos, word);
  }
  BOOST_TEST(page.find("default-src 'none'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_page_has_every_section_and_its_data_beside_it) {
  const std::string page = report().page();
  for (const char* id : {"answer",
                         "conditions",
                         "maps",
                         "dose",
                         "levers",
                         "convergence",
                         "knobs",
                         "changes",
                         "failures",
                         "quality",
                         "table"}) {
    BOOST_TEST(page.find(std::string("<section id=\"") + id + "-") != std::string::npos, id);
  }
  BOOST_TEST(page.find("href=\"./report.csv\"") != std::string::npos);
  BOOST_TEST(contents(report().file("report.csv")).find("batch,nhead,seq_len") !=
             std::string::npos);
  BOOST_TEST(Json::parse(contents(report().file("report.json")))["devices"].size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_sweep_is_shown_for_the_device_that_it_was_measured_on_and_no_other) {
  const std::string page = report().page();
  const std::string sweep = "From a sweep: gain of each lever alone";
  const size_t found = page.find(sweep);
  BOOST_TEST_REQUIRE(found != std::string::npos);
  BOOST_TEST(page.find(sweep, found + 1) == std::string::npos);
  BOOST_TEST(page.rfind("<h2>", found) == page.rfind("<h2>MI355X <small>gfx950", found));
}

BOOST_AUTO_TEST_CASE(a_failure_comes_with_the_command_that_shows_it_again) {
  const std::string page = report().page();
  BOOST_TEST(page.find(std::string("mla-tune bench --device ") + kFaultyDevice +
                       " --batch 1 --nhead 12 --seq-len 64 --config &#39;splits=") !=
             std::string::npos);
}
