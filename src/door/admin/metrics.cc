#include "door/admin/metrics.h"

#include <cstdint>
#include <string_view>

#include <brim/version.h>

namespace brim::door {
namespace {

class Text {
 public:
  // Begins a family; what follows are its samples.
  Text& Family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_.append("# HELP ").append(name).append(" ").append(help).append("\n");
    out_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    return *this;
  }
  // `labels` is empty or {name="value"}, with values of our own, or of the configuration's names,
  // which need no escapes.
  Text& Sample(std::uint64_t value, std::string_view labels = {}) {
    out_.append(name_).append(labels).append(" ").append(std::to_string(value)).append("\n");
    return *this;
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string_view name_;
  std::string out_;
};

std::string Label(std::string_view name, std::string_view value) {
  std::string label(name);
  return label.append("=\"").append(value).append("\"");
}

void AddDecisions(const DecisionCounters::Counts& counts, Text& text) {
  text.Family("brim_decisions_total", "counter", "Decisions by reason.");
  for (std::size_t i = 0; i < DecisionCounters::kReasons; ++i) {
    const std::string_view reason = ReasonName(static_cast<Reason>(i));
    text.Sample(counts.by_reason[i], "{" + Label("reason", reason) + "}");
  }
  text.Family("brim_would_deny_total", "counter", "Checks that a shadow limit would have refused.");
  text.Sample(counts.would_deny);
  text.Family("brim_store_errors_total", "counter",
              "Decisions made without the store, by what was wrong with it.");
  for (std::size_t i = 1; i < DecisionCounters::kStoreErrors; ++i) {
    const std::string_view error = StoreErrorName(static_cast<StoreError>(i));
    text.Sample(counts.by_store_error[i], "{" + Label("error", error) + "}");
  }
}

void AddModes(const PolicySet& policy, Text& text) {
  text.Family("brim_mode", "gauge", "1 for each tier and route whose mode is not enforce.");
  const auto add = [&text](std::string_view name, Mode mode) {
    if (mode == Mode::kEnforce) return;
    text.Sample(1, "{" + Label("policy", name) + "," + Label("mode", ModeName(mode)) + "}");
  };
  for (const auto& [name, tier] : policy.tiers) add(name, tier.mode);
  for (const auto& [path, route] : policy.routes) add(route.name, route.mode);
}

void AddReloads(const PolicyControl::Status& reloads, Text& text) {
  text.Family("brim_config_last_reload_successful", "gauge",
              "1 if the last reload of the configuration was taken, or there was none.");
  text.Sample(reloads.last_ok ? 1 : 0);
  text.Family("brim_config_last_reload_success_timestamp_seconds", "gauge",
              "When the configuration in force was loaded, in Unix time.");
  text.Sample(static_cast<std::uint64_t>(reloads.last_success));
  text.Family("brim_config_reloads_total", "counter", "Reloads of the configuration by result.");
  text.Sample(reloads.good, "{" + Label("result", "taken") + "}");
  text.Sample(reloads.bad, "{" + Label("result", "refused") + "}");
}

}  // namespace

std::string MetricsText(const MetricsSource& source, const PolicySet& policy) {
  Text text;
  text.Family("brim_build_info", "gauge", "Always 1; the labels tell what runs.");
  text.Sample(1, "{" + Label("version", BRIM_VERSION) + "}");
  AddDecisions(source.decisions, text);
  text.Family("brim_kill_switch", "gauge", "1 while limiting is switched off.");
  text.Sample(source.kill_switch ? 1 : 0);
  AddModes(policy, text);
  text.Family("brim_store_up", "gauge", "1 if the store answered when it was last asked.");
  text.Sample(source.store_up ? 1 : 0);
  AddReloads(source.reloads, text);
  text.Family("brim_draining", "gauge", "1 while brim is about to end.");
  text.Sample(source.draining ? 1 : 0);
  return text.Take();
}

}  // namespace brim::door
