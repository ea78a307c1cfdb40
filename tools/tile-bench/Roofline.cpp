//===- Roofline.cpp - results as a picture -------------------- -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//

#include "Roofline.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace tilec::bench {

namespace {
/// Where a value lies on a logarithmic axis.
struct Axis {
  double first, last;   // powers of ten
  double from, to;      // pixels
  double at(double value) const {
    double share = (std::log10(value) - first) / (last - first);
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

constexpr int width = 960, height = 600, left = 80, right = 940, top = 40, bottom = 540;

class Picture {
public:
  Picture(raw_ostream &os, const Results &results) : os(os), results(results) {}
  void print();

private:
  void chooseAxes();
  void grid();
  void roofs();
  void dots(const Row &row);
  void line(double x1, double y1, double x2, double y2, StringRef style);
  void text(double x, double y, StringRef anchor, StringRef words);

  raw_ostream &os;
  const Results &results;
  Axis x{}, y{};
};
} // namespace

static std::string escaped(StringRef words) {
  std::string result;
  raw_string_ostream out(result);
  printHTMLEscaped(words, out);
  return result;
}

void Picture::line(double x1, double y1, double x2, double y2, StringRef style) {
  os << format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" ", x1, y1, x2, y2) << style << "/>\n";
}

void Picture::text(double atX, double atY, StringRef anchor, StringRef words) {
  os << format("<text x=\"%.1f\" y=\"%.1f\" ", atX, atY) << "text-anchor=\"" << anchor << "\">"
     << escaped(words) << "</text>\n";
}

/// Whole decades that hold all dots and roofs.
void Picture::chooseAxes() {
  double low = 1, high = 1, slow = 1e12, quick = 1e12;
  for (const Row &row : results.rows)
    for (const Entry &entry : row.entries) {
      if (!entry.isGood() || row.bytes <= 0 || row.operations <= 0)
        continue;
      low = std::min(low, row.operations / row.bytes);
      high = std::max(high, row.operations / row.bytes);
      slow = std::min(slow, row.operations / entry.seconds.median);
      quick = std::max(quick, row.operations / entry.seconds.median);
    }
  for (const Ceiling &ceiling : results.ceilings)
    quick = std::max(quick, ceiling.operationsPerSecond);
  x = {std::floor(std::log10(low)), std::ceil(std::log10(high) + 0.2), left, right};
  y = {std::floor(std::log10(slow)), std::ceil(std::log10(quick) + 0.05), bottom, top};
}

void Picture::grid() {
  const char *style = "stroke=\"#ddd\"";
  for (double p = x.first; p <= x.last; ++p) {
    double value = std::pow(10, p);
    line(x.at(value), top, x.at(value), bottom, style);
    text(x.at(value), bottom + 18, "middle", "10^" + std::to_string(static_cast<int>(p)));
  }
  for (double p = y.first; p <= y.last; ++p) {
    double value = std::pow(10, p);
    line(left, y.at(value), right, y.at(value), style);
    text(left - 8, y.at(value) + 4, "end", "10^" + std::to_string(static_cast<int>(p)));
  }
  text((left + right) / 2.0, bottom + 42, "middle", "operations per byte");
  text(left, top - 16, "start", "operations per second, " + results.device);
}

/// The copy's slope up to the highest flat, and each flat from where it meets the slope.
void Picture::roofs() {
  double bandwidth = results.copyBytesPerSecond;
  if (bandwidth <= 0)
    return;
  const char *style = "stroke=\"#333\" stroke-width=\"2\"";
  double highest = std::pow(10, y.last);
  if (!results.ceilings.empty()) {
    highest = 0;
    for (const Ceiling &ceiling : results.ceilings)
      highest = std::max(highest, ceiling.operationsPerSecond);
  }
  double first = std::max(std::pow(10, x.first), std::pow(10, y.first) / bandwidth);
  double last = std::min(std::pow(10, x.last), highest / bandwidth);
  line(x.at(first), y.at(first * bandwidth), x.at(last), y.at(last * bandwidth), style);
  std::string words;
  raw_string_ostream(words) << "copy " << format("%.2f", bandwidth * 1e-12) << " TB/s";
  text(x.at(first) + 8, y.at(first * bandwidth) - 12, "start", words);
  for (const Ceiling &ceiling : results.ceilings) {
    double meets = ceiling.operationsPerSecond / bandwidth, at = y.at(ceiling.operationsPerSecond);
    line(x.at(meets), at, right, at, style);
    words.clear();
    raw_string_ostream(words) << ceiling.name << " "
                              << format("%.0f", ceiling.operationsPerSecond * 1e-12) << " T/s";
    text(right, at - 6, "end", words);
  }
}

void Picture::dots(const Row &row) {
  for (const Entry *entry : {row.bestPeer(), row.bestOurs()}) {
    if (!entry || row.bytes <= 0 || row.operations <= 0)
      continue;
    double rate = row.operations / entry->seconds.median;
    bool isOurs = entry->who == ourName;
    os << format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" ", x.at(row.operations / row.bytes), y.at(rate),
                 isOurs ? 4 : 6)
       << (isOurs ? "fill=\"#c33\"" : "fill=\"none\" stroke=\"#36c\" stroke-width=\"1.5\"") << "><title>"
       << escaped(row.subject + " " + row.shape + ", " + entry->who) << ": "
       << format("%.3g T/s, %.3g TB/s", rate * 1e-12, row.bytes / entry->seconds.median * 1e-12)
       << "</title></circle>\n";
  }
}

void Picture::print() {
  chooseAxes();
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << height
     << "\" viewBox=\"0 0 " << width << " " << height
     << "\" font-family=\"sans-serif\" font-size=\"13\">\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  grid();
  roofs();
  for (const Row &row : results.rows)
    dots(row);
  os << "<circle cx=\"700\" cy=\"582\" r=\"4\" fill=\"#c33\"/>";
  text(710, 586, "start", "tilec");
  os << "<circle cx=\"780\" cy=\"582\" r=\"6\" fill=\"none\" stroke=\"#36c\" stroke-width=\"1.5\"/>";
  text(792, 586, "start", "best peer");
  os << "</svg>\n";
}

void printRoofline(raw_ostream &os, const Results &results) { Picture(os, results).print(); }

} // namespace tilec::bench
