// Several machines share a store and nothing else. Whatever they do and in whichever order they
// start and close their sessions: nothing is lost, nothing resolved comes back, and all agree in
// the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/text.h"
#include "support/machine.h"

namespace skein::test {
namespace {

struct Made {
  std::string text;
  Timestamp created_at;
};

// Machines at random work, and what they were told.
class World {
 public:
  World(std::uint64_t seed, std::size_t machines) : random_(seed), ids_(seed) {
    for (std::size_t i = 0; i < machines; ++i) {
      machines_.push_back(
          std::make_unique<Machine>(*store_, clock_, ids_, "machine " + std::to_string(i)));
      machines_.back()->start();
    }
  }

  void step() {
    clock_.advance(std::chrono::milliseconds(pick(3)));  // also deeds of the same instant
    Machine& machine = *machines_[pick(machines_.size())];
    switch (pick(6)) {
      case 0:
      case 1:
        return create(machine);
      case 2:
        return resolve(machine);
      case 3:
        return close_with_payload(machine);
      case 4:
        machine.close();
        machine.start();
        return;
      default:
        machine.start();
    }
  }

  // Every machine ends its session and begins another, in a random order, until all have seen all.
  void come_together() {
    for (int round = 0; round < 2; ++round) {
      std::shuffle(machines_.begin(), machines_.end(), random_);
      for (const auto& machine : machines_) {
        clock_.advance(std::chrono::milliseconds(1));
        machine->close();
        machine->start();
      }
    }
  }

  void check() const {
    const ItemList first = machines_.front()->list();
    for (const auto& machine : machines_) ASSERT_EQ(machine->list(), first);
    std::map<std::string, WorkItem> items;
    for (const WorkItem& item : first.items) items[item.id] = item;
    for (const auto& [id, made] : made_) {
      ASSERT_TRUE(items.contains(id)) << id << " was lost";
      const WorkItem& item = items.at(id);
      ASSERT_EQ(item.created_at, made.created_at);
      const bool was_resolved = resolved_.contains(id);
      if (was_resolved) {
        ASSERT_EQ(item.status, ItemStatus::kResolved) << id << " came back";
      } else if (!may_be_resolved(made)) {
        ASSERT_EQ(item.status, ItemStatus::kOpen) << id << " was closed by nobody";
      }
    }
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  std::string random_text() {
    // Few texts, so that the same problem is met on several machines and comes back; each has a
    // number, so that they are not near-duplicates.
    const std::string text = "problem number " + std::to_string(pick(4));
    return pick(2) == 0 ? text : "PROBLEM  number" + text.substr(14);
  }

  void remember(const Machine& machine) {
    for (const WorkItem& item : machine.list().items) {
      made_.emplace(item.id, Made{fold_text(item.text), item.created_at});
    }
  }

  void create(Machine& machine) {
    CreateItem request;
    request.text = random_text();
    request.allow_duplicate = pick(4) == 0;
    const auto made = machine.items().create(request);
    if (made) made_[made->id] = {fold_text(made->text), made->created_at};
  }

  void resolve(Machine& machine) {
    const ItemList list = machine.list();
    if (list.items.empty()) return;
    const WorkItem item = machine.resolve(list.items[pick(list.items.size())].id,
                                          "note " + std::to_string(pick(100)));
    resolved_[item.id] = item.resolved_at;
  }

  void close_with_payload(Machine& machine) {
    const ItemList list = machine.list();
    std::string payload = R"({"open_threads":[")" + random_text() + "\"";
    if (!list.items.empty()) {
      const WorkItem& item = list.items[pick(list.items.size())];
      const bool resolves = pick(3) == 0;
      payload += R"(,{"id":")" + item.id + R"(","note":"as a note","status":")" +
                 (resolves ? "resolved" : "open") + "\"}";
      if (resolves && item.status == ItemStatus::kOpen) resolved_[item.id] = clock_.now();
    }
    machine.close(payload + "]}");
    remember(machine);
    machine.start();
  }

  // By the resolution of another item that says the same.
  bool may_be_resolved(const Made& made) const {
    return std::any_of(resolved_.begin(), resolved_.end(), [&](const auto& other) {
      const auto& [id, at] = other;
      // A resolution is told to be a little later where items of the same instant say the same.
      return made_.at(id).text == made.text &&
             made.created_at.us < at.us + std::chrono::microseconds(kSkew).count();
    });
  }
  static constexpr std::chrono::milliseconds kSkew{1000};

  std::mt19937_64 random_;
  ManualClock clock_;
  SeededIds ids_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  std::vector<std::unique_ptr<Machine>> machines_;
  std::map<std::string, Made> made_;
  std::map<std::string, Timestamp> resolved_;  // acknowledged
};

TEST(Machines, ConvergeAfterAnyInterleavingAndLoseNothing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, 2 + seed % 3);
    for (int step = 0; step < 40; ++step) world.step();
    world.come_together();
    ASSERT_NO_FATAL_FAILURE(world.check());
  }
}

// Two machines, one item, every order of what can happen to it.
TEST(Machines, WhatOneCreatesAndTheOtherResolvesConvergesInEveryOrderOfClosing) {
  for (const bool a_closes_first : {true, false}) {
    for (const bool a_resolves_too : {true, false}) {
      ManualClock clock;
      SeededIds ids;
      const auto store = must(open_store("memory:"));
      Machine a(*store, clock, ids, "a");
      Machine b(*store, clock, ids, "b");
      const auto tick = [&clock] { clock.advance(std::chrono::milliseconds(1)); };
      a.start();
      const WorkItem item = a.create("Shared");
      a.close();
      tick();
      a.start();
      b.start();
      tick();
      const WorkItem resolved = b.resolve(item.id, "by b");
      tick();
      if (a_resolves_too) a.resolve(item.id, "by a, later");
      (a_closes_first ? a : b).close();
      tick();
      (a_closes_first ? b : a).close();
      tick();
      a.start();
      b.start();
      EXPECT_EQ(a.list(), b.list());
      EXPECT_THAT(a.list().items, testing::ElementsAre(resolved)) << "the first resolution is kept";
    }
  }
}

}  // namespace
}  // namespace skein::test
