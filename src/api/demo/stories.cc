#include "api/demo/stories.h"

namespace skein {

// A line begins with what happens; lines that begin with two spaces belong to the one before.
// [[a|b|c]] is one of the three, by chance. The rest is in stories.h.
std::string_view demo_stories() {
  return R"story(
model claude-sonnet-4-5 3 15 0.3
model claude-haiku-4-5 1 5 0.1
model gpt-5-mini 0.25 2 0.025

agent coder | Writes and changes the code | You work on ferry, a small timetable service. Change as little as needed, and run the tests.
agent scout | Finds out what we do not know | You look things up and answer with sources. Say what you are not sure of.
agent reviewer | Reads changes before they are merged | You review changes to ferry. Name the line, the problem and the fix.
agent nightly | Checks the operator's feed every night | You compare the feed with yesterday's and report what changed.
agent scribe | Writes what people read | You write release notes and answers to passengers, in plain words. | {"builtin":["work_items"],"confirm":["create_work_item"]}

at 19d5h
thread idea scout gpt-5-mini | Who publishes ferry timetables | {"team":"core"}
user Who publishes the timetables of the island ferries, and in what form?
tool web_search {"query":"island ferries timetable open data"}
= 1. Operator's page, a PDF a season
  2. Operator's download folder, CSV
answer The operator itself: a PDF for people, and a CSV file a season in a folder that is not linked from anywhere. I would ask before we rely on it.
item Find out who maintains the operator's download folder

at 13d3h
session coder
commit Read a timetable from CSV
file README.md
  # ferry

  Answers when the next ferry leaves. Reads the operator's timetables as they publish them.

      python3 ferry.py data/summer.csv Norderney 09:20
file ferry.py
  """When the next ferry leaves."""

  import csv


  def read_timetable(path):
      """Departures as (harbour, minutes after midnight)."""
      with open(path, newline="") as file:
          return [(row["harbour"], minutes(row["time"])) for row in csv.DictReader(file)]


  def minutes(text):
      hours, _, rest = text.partition(":")
      return int(hours) * 60 + int(rest)
file data/summer.csv
  harbour,time
  Norderney,06:15
  Norderney,09:30
  Norderney,12:45
  Juist,10:05
  Juist,23:50
thread start coder claude-sonnet-4-5 | Reading the operator's timetables | {"ticket":"FER-1","team":"core"}
user The operator sends timetables as CSV, one file per season. Please have a look at data/summer.csv and tell me what a reader has to cope with.
say I will look at the file first.
tool read_file {"path":"data/summer.csv"}
= harbour,time
  Norderney,06:15
  Norderney,09:30
  Norderney,12:45
  Juist,10:05
  Juist,23:50
answer Three things:

  1. Rows are grouped by harbour, **not** sorted by time.
  2. Times have no zone and no date. `23:50` suggests that there are sailings close to midnight.
  3. There is no column for the days of the week, so one file is one kind of day.

  I would keep times as minutes after midnight until we know more; that sorts and subtracts well.
user Minutes after midnight it is. Write the reader, nothing else.
tool write_file {"path":"ferry.py","content":"…17 lines…"}
= wrote 17 lines
also run_tests {}
= no tests yet
answer Done: `read_timetable(path)` gives `(harbour, minutes)`. A row that is no time raises `ValueError` with the text in it, which is what we want for a file that we do not control.
pin
item Ask the operator whether files ever contain the days of the week
item Decide what happens with a harbour that is spelled differently
checkpoint csv-reader | The reader for timetables | Timetables are read from CSV as minutes after midnight; rows need not be sorted. | Answer the next departure; Ask about days of the week | reader, core
end The reader works. Times are minutes after midnight. | Write a first test for the reader

at 12d4h
thread zones scout claude-haiku-4-5 | Time zones without a dependency | {"team":"core"}
user Do we need a library for time zones, or is the standard library enough? We run on Debian 12.
tool web_search {"query":"python zoneinfo standard library tzdata debian"}
= 1. zoneinfo: IANA time zone support, part of Python since 3.9
  2. Debian: tzdata is installed by default
  3. Why pytz is no longer needed
tool web_search {"query":"zoneinfo fold ambiguous times end of daylight saving"}
= 1. PEP 495: `fold` tells the two readings of a repeated hour apart
answer The standard library is enough:

  | | `zoneinfo` | `pytz` |
  |---|---|---|
  | in Python | since 3.9 | no |
  | data | the system's `tzdata` | its own |
  | repeated hour in autumn | `fold` (PEP 495) | `localize(is_dst=…)` |

  Debian 12 has Python 3.11 and `tzdata`. One thing to keep in mind: on the last Sunday of October the hour from 2 to 3 happens twice. No ferry sails then, as far as I can see, but a *delay* may be reported in it.
user Good. Note that down as decided: zoneinfo, Europe/Berlin, no dependency.
answer Noted. **Decision:** `zoneinfo` with `Europe/Berlin`, no dependency. Reason: part of Python, data from the system.
pin
close Decided: zoneinfo with Europe/Berlin, no dependency.

at 11d5h
session coder
commit Answer the next departure
edit ferry.py
  import csv
  =>
  import csv
  import sys
edit ferry.py
  =>


  def next_departure(timetable, harbour, now):
      """The first departure from the harbour at or after `now`, or None."""
      return min((time for where, time in timetable if where == harbour and time >= now), default=None)


  if __name__ == "__main__":
      found = next_departure(read_timetable(sys.argv[1]), sys.argv[2], minutes(sys.argv[3]))
      print("none today" if found is None else f"{found // 60:02}:{found % 60:02}")
file test_ferry.py
  from ferry import minutes, next_departure

  TIMETABLE = [("Norderney", minutes("09:30")), ("Norderney", minutes("06:15"))]


  def test_the_next_departure_is_the_first_one_that_is_not_gone():
      assert next_departure(TIMETABLE, "Norderney", minutes("06:16")) == minutes("09:30")


  def test_after_the_last_one_there_is_none():
      assert next_departure(TIMETABLE, "Norderney", minutes("09:31")) is None
auto git-commit | Answer the next departure
thread next coder claude-sonnet-4-5 | Next departure, also around midnight | {"ticket":"FER-3","team":"core"}
user Next: `next_departure(timetable, harbour, now)`. At or after now; None when nothing sails any more today.
tool read_file {"path":"ferry.py"}
= …17 lines…
tool edit_file {"path":"ferry.py","insert":"def next_departure(timetable, harbour, now): …"}
= 6 lines added
tool run_tests {}
= 2 passed in 0.02s
answer It is one `min` with a `default`:

  ```python
  def next_departure(timetable, harbour, now):
      """The first departure from the harbour at or after `now`, or None."""
      return min((time for where, time in timetable if where == harbour and time >= now), default=None)
  ```

  Two tests: the next one that is not gone, and none after the last.
user What does it say at 23:55 for Juist, when the 23:50 is ten minutes late?
say That depends on whether the delay is known. Let me try both.
tool run {"command":"python3 ferry.py data/summer.csv Juist 23:55"}
= none today
answer `none today`, and that is wrong for a passenger: the 23:50 is still at the pier. Two ways out:

  - keep departures for a while after their time, marked as *leaving*;
  - let times run past 24:00, so that a delayed 23:50 becomes 24:00 of the **same** day.

  The second one is also what the operator's own system does: their delay feed has `24:10`.
resolve first test => two tests of next_departure

at 8d6h
on next
user Then let times run past 24:00. What has to change?
say I will look for every place that assumes less than 24 hours.
tool search_code {"pattern":"% 60|// 60|24"}
= ferry.py:26:      print(f"{found // 60:02}:{found % 60:02}")
answer Only the printing. `minutes("24:10")` is 1450 already, and `min` does not care. I would print `00:10 (+1)` to passengers and keep 1450 inside.
user Do it, with a test that says why.
tool edit_file {"path":"ferry.py","insert":"def clock(time): …"}
= 4 lines added
tool edit_file {"path":"test_ferry.py","insert":"def test_a_delayed_sailing_stays_in_the_day_that_it_belongs_to(): …"}
= 4 lines added
tool run_tests {}
= 3 passed in 0.02s
answer Done. The test is called *a delayed sailing stays in the day that it belongs to*, so that nobody wraps it to 00:10 again.
pin
commit Let times run past midnight
edit ferry.py
  def next_departure
  =>
  def clock(time):
      """For passengers: what is past midnight belongs to the day before."""
      return f"{time // 60 % 24:02}:{time % 60:02}" + (" (+1)" if time >= 24 * 60 else "")


  def next_departure
edit ferry.py
  f"{found // 60:02}:{found % 60:02}"
  =>
  clock(found)
auto git-commit | Let times run past midnight
fork next wrap 2 | Next departure: wrapping at midnight instead
user Before we settle: how much would it take to wrap times at midnight and carry a date instead?
tool search_code {"pattern":"minutes\\("}
= ferry.py: 3 places, test_ferry.py: 5 places
answer Every function would take a date, eight call sites change, and the operator's `24:10` has to be turned around on the way in *and* on the way out. Correct, but we would pay for it everywhere. I would not.
close Not taken: a date in every function, for one line of output.
checkpoint past-midnight | Times run past midnight | A delayed 23:50 is 24:00 of the same day, as in the operator's feed; passengers see 00:00 (+1). Wrapping was tried in a fork and dropped. | Take delays from the feed; Say the zone in the output | midnight, core
end Sailings after midnight belong to the day before. | Delays are not taken from the feed yet; The output does not say its time zone

at 7d4h
thread delays coder claude-sonnet-4-5 | Delays from the operator's feed | {"ticket":"FER-7","team":"core"}
session coder
user The operator has a feed of delays: JSON over HTTP, one object a sailing. How do we want to ask for it?
tool fetch {"url":"https://feed.example.org/delays"}
= {"sailings":[{"harbour":"Juist","planned":"23:50","expected":"24:10"}]}
answer The feed is small (one object a sailing, some 40 a day) and changes every few minutes. I would ask once a minute, keep the last answer, and show its age. A passenger is better off with a delay that is four minutes old than with none.
user And when it does not answer?
answer Then we go on with what we have, and say how old it is. Three attempts with a pause that doubles (1 s, 2 s, 4 s), then report and keep the last answer.

  What I would **not** do is fall back to the plan without a word: a sailing that was 20 minutes late does not become punctual because a server is down.
user So that is decided about retries: three attempts, then report. Write it down as a rule, we will be asked.
answer **Decided about retries:** three attempts with pauses of 1, 2 and 4 seconds; then the last answer stays, with its age, and the failure is reported once, not every minute.
pin
user Now write it.
tool read_file {"path":"ferry.py"}
= …31 lines…
tool write_file {"path":"delays.py","content":"…34 lines…"}
= wrote 34 lines
also write_file {"path":"test_delays.py","content":"…28 lines…"}
= wrote 28 lines
tool run_tests {}
= FAILED test_delays.py::test_the_third_failure_is_reported: reported 3 times
say Reported with every attempt instead of after the last. The report belongs behind the loop.
tool edit_file {"path":"delays.py","lines":"21-24"}
= 4 lines changed
tool run_tests {}
= 6 passed in 0.04s
answer `delays.py` asks, retries and keeps the last answer. One test failed at first because each attempt was reported; now it is the last one only.
user Please also look at what happens when the feed answers with HTML. Their maintenance page does that.
tool run {"command":"python3 -m pytest -q -k html"}
= FAILED: json.decoder.JSONDecodeError
say An answer that is no JSON counts as no answer.
tool edit_file {"path":"delays.py","lines":"12-15"}
= 4 lines changed
tool run_tests {}
= 7 passed in 0.05s
answer Same rule: an answer that is no JSON is a failed attempt. The test uses the operator's real maintenance page, shortened.
commit Take delays from the operator's feed
file delays.py
  """What the operator says about delays."""

  import json
  import time
  import urllib.request

  PAUSES = (1, 2, 4)


  def ask(url, report, sleep=time.sleep):
      """The feed's sailings, or None after three attempts, which are reported once."""
      reason = None
      for pause in PAUSES:
          try:
              with urllib.request.urlopen(url, timeout=5) as answer:
                  return json.load(answer)["sailings"]
          except (OSError, ValueError, KeyError) as error:
              reason = error
              sleep(pause)
      report(f"no delays: {reason}")
      return None
auto git-commit | Take delays from the operator's feed
summarize 4
resolve Delays are not taken => delays.py, with three attempts
item The feed has harbours in upper case, our files do not
checkpoint delays | Delays from the feed | Delays are asked for once a minute; three attempts, then the last answer stays and says its age. | Age of the answer in the output; Upper case harbours | delays, feed
end Delays come from the feed.

at 6d20h
thread why scribe gpt-5-mini | Warum fehlt die Fähre um 7:40? | {"channel":"mail","language":"de"}
user Guten Tag, auf Ihrer Seite fehlt die Fähre um 7:40 ab Norddeich. Am Anleger steht sie aber. Fällt sie aus?
tool search_timetable {"harbour":"Norddeich","around":"07:40"}
= 07:40 winter only, until March 31
answer Guten Tag, die Abfahrt um 7:40 Uhr gibt es nur im Winterfahrplan, der bis zum 31. März gilt. Im Sommer fährt das erste Schiff um 6:15 Uhr und das nächste um 9:30 Uhr. Der Aushang am Anleger zeigt beide Fahrpläne nebeneinander. Gute Fahrt!
close Beantwortet: 7:40 nur im Winterfahrplan.
archive 365 Antwort an Fahrgäste

at 5d3h
thread review reviewer claude-sonnet-4-5 | Review: delays from the feed | {"ticket":"FER-7","team":"core"}
user Please review the change that takes delays from the feed.
tool git_diff {"range":"HEAD~1..HEAD"}
= delays.py | 21 +++++++++++++++++++++
  1 file changed, 21 insertions(+)
tool read_file {"path":"delays.py"}
= …21 lines…
answer Two findings, one of them worth a change:

  1. `delays.py:19`: the pause comes after the **last** attempt, too. The caller waits 4 seconds for nothing. Sleep between attempts only.
  2. `delays.py:15`: `timeout=5` is per read, not for the whole answer. Fine for a feed of this size; I would leave it.

  The rule (three attempts, one report) is easy to see and tested.
user Agreed on 1. Leave 2 as it is and note why.
answer Noted: the timeout of 5 seconds is per read; with answers of 4 KB that is the whole answer in practice.
item Sleep between attempts only, not after the last

at 4d2h
thread stopped scout gpt-5-mini | Which harbours publish in GTFS | {"team":"core"}
user Find out which of our harbours publish their timetables as GTFS, and since when.
tool web_search {"query":"GTFS ferry timetable East Frisian islands"}
= 1. GTFS of the transport association (bus, ferry)
  2. Open data portal, ferries
say The association has one file for all islands.
tool fetch {"url":"https://data.example.org/gtfs/ferries.zip"}
= 41,288,190 bytes
stop Downloading everything before looking at the list of
user Only the list please, not the files.
tool fetch {"url":"https://data.example.org/gtfs/index.json"}
= ["norderney","juist","baltrum","langeoog"]
answer Four of them: Norderney, Juist, Baltrum and Langeoog, all in the association's feed since January. Spiekeroog and Wangerooge are not in it.
item Spiekeroog and Wangerooge are not in the association's GTFS feed

at 3d5h
session coder
on delays
user The reviewer is right about the pause after the last attempt. Fix it.
fails the provider is overloaded (529), after 4 attempts
user Again, please.
tool edit_file {"path":"delays.py","lines":"13-21"}
= 9 lines changed
tool run_tests {}
= 8 passed in 0.04s
answer Fixed: pauses are *between* attempts now (1 s, 2 s), and a test counts them.
commit Pause between attempts only
edit delays.py
  (1, 2, 4)
  =>
  (0, 1, 2)
edit delays.py
      for pause in PAUSES:
  =>
      for pause in PAUSES:
          sleep(pause)
edit delays.py
              reason = error
              sleep(pause)
  =>
              reason = error
auto git-commit | Pause between attempts only
resolve Sleep between attempts => pauses come before an attempt now
item PROJECT STATE: ferry: FER-1done FER-3done FER-7done FER-9~waits for the operator FER-11->name the zone
end Review of the delays is done. | Show how old the delays are

at 2d6h
thread arabic scribe gpt-5-mini | متى تغادر العبارة؟ | {"channel":"mail","language":"ar"}
user مرحبًا، متى تغادر العبارة الأخيرة إلى Juist اليوم؟
tool search_timetable {"harbour":"Juist","last":true}
= 23:50
answer مرحبًا، تغادر العبارة الأخيرة من Juist في الساعة 23:50. نتمنى لكم رحلة سعيدة!

at 1d4h
thread zone coder claude-sonnet-4-5 | Say the time zone in every answer | {"ticket":"FER-11","team":"core"}
session coder
user People from abroad ask what zone our times are in. Put it into the output, as decided.
tool recall {"query":"time zone decision"}
= > scout, "Time zones without a dependency": Decision: zoneinfo with Europe/Berlin, no dependency.
answer As decided with scout: `zoneinfo`, `Europe/Berlin`. The output becomes `23:50 CEST`, and in winter `CET`; the name comes from the date of the sailing, not of the question, so that a sailing after the change of clocks is right, too.
user Good. And the last Sunday of October?
answer The hour from 2 to 3 happens twice, and nothing sails in it. A delay that is reported in that hour would be ambiguous; I would take the *first* reading (`fold=0`) and say so in a comment.
pin
commit Say the time zone
file zone.py
  """Times as people read them."""

  from datetime import datetime, timedelta
  from zoneinfo import ZoneInfo

  ZONE = ZoneInfo("Europe/Berlin")


  def spoken(day, minutes):
      """`minutes` after midnight of `day`, with the name of the zone. Twice-told hours: the first."""
      time = datetime(day.year, day.month, day.day, tzinfo=ZONE) + timedelta(minutes=minutes)
      return f"{time:%H:%M %Z}"
auto git-commit | Say the time zone
resolve does not say its time zone => zone.py
checkpoint zone | The zone is part of every time | Output names the zone of the sailing's date. | Show the age of delays; Release notes for 0.2 | zone, core
task notes scribe claude-haiku-4-5 | Release notes for 0.2 | Write the release notes for ferry 0.2: times past midnight, delays, the zone. One paragraph for passengers, one for operators.
tool git_log {"since":"0.1"}
= Say the time zone
  Pause between attempts only
  Take delays from the operator's feed
  Let times run past midnight
answer **For passengers.** Late sailings no longer vanish at midnight, delays are shown with their age, and every time says its zone.

  **For operators.** Delays come from your feed, once a minute. When it does not answer three times in a row, we report that once, and go on with the last answer.
end The zone is named everywhere. | Release notes need a look by somebody who speaks Dutch; Show how old the delays are

at 20h
thread plan reviewer claude-haiku-4-5 | What 0.3 should have | {"team":"core"}
user Collect what is open, as a plan for 0.3. Short.
tool list_work_items {}
= 6 open
answer 1. Show how old the delays are.
  2. Harbours in upper case (feed) and as written (files): compare without case.
  3. GTFS instead of CSV where the association has it; two harbours are missing there.
  4. A Dutch reader for the release notes.

  I would do 1 and 2 together: both touch `delays.py`.
user Wait with 3 until the operator has answered.
answer Understood: 3 waits for the operator.
pause

at 55m
task followup scribe claude-haiku-4-5 | Ask the operator about days of the week | Write to the operator and ask whether the files will get a column for the days of the week; open a work item for the answer.
say The mail is drafted. I would open a work item for the answer:
ask create_work_item {"text":"Operator's answer about days of the week, due Friday"}
thread age coder claude-sonnet-4-5 | How old are the delays? | {"ticket":"FER-12","team":"core"}
session coder
user Let us show the age of the delays. Where does it go?
tool search_code {"pattern":"ask\\("}
= delays.py:10:def ask(url, report, sleep=time.sleep):
answer Where the answer is kept: the time of the last good one beside it. In the output I would say `Juist 23:50, expected 00:10 (+1), as of 3 min ago`, and nothing when it is younger than a minute.
user Yes. Begin with a test.
tool write_file {"path":"test_age.py","content":"…12 lines…"}
= wrote 12 lines
tool run_tests {}
= FAILED test_age.py::test_an_answer_says_how_old_it_is: not there yet
answer The test is there, and fails as it should: *an answer says how old it is*. Next is `delays.py`.
file test_age.py
  from delays import age


  def test_an_answer_says_how_old_it_is():
      assert age(asked=0, now=180) == "as of 3 min ago"
handoff age-of-delays | Age of the delays, half done | A test says what is wanted and fails; delays.py has to keep the time of its last good answer. | Keep the time of the last good answer; Make test_age.py pass | delays, unfinished
item Make test_age.py pass

at 13d21h 12d21h 11d21h 10d21h 9d21h 8d21h 7d21h 6d21h 5d21h 4d21h 3d21h 2d21h 1d21h 21h
thread night nightly claude-haiku-4-5 | Nightly check of the feed
user Compare the feed with yesterday's.
tool fetch {"url":"https://feed.example.org/delays"}
= [[41|42|44]] sailings
tool compare {"with":"yesterday"}
= [[no difference|1 sailing added|2 sailings removed]]
answer [[41|42|44]] sailings, [[nothing changed|one sailing more than yesterday|two sailings fewer, both to Juist because of the tide]]. The feed answered in [[180|240|410]] ms, [[no retries|one retry at 02:14]].
close [[Nothing unusual.|A retry at night, otherwise nothing.]]

at 10d4h 9d5h 6d4h 4d6h 2d4h 26h 5h
thread mail scribe gpt-5-mini | [[Luggage on the ferry|Bicycles on deck|Dogs on board|Tickets for tomorrow]] | {"channel":"mail","language":"en"}
user [[Can I take two suitcases and a pram?|Is there room for six bicycles on Saturday morning?|Does our dog need a ticket?|Can I change a ticket for tomorrow to the afternoon?]]
tool search_answers {"language":"en"}
= 3 earlier answers
answer Hello, yes, that is fine. [[Please be at the pier 20 minutes before departure.|The crew will show you where to go.|You need not book it.]] Have a good trip!
)story";
}

}  // namespace skein
