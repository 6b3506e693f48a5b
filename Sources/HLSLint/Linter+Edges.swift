/// Checks of date ranges and rendition reports. Spec: rfc8216bis §4.4.5.1, §4.4.5.4.
extension Linter {
    // MARK: Date ranges

    mutating func checkDateRanges(_ list: MediaList, _ index: Int) {
        let url = self.histories[index].url
        if !list.dateRanges.isEmpty,
            !(list.segments + [list.open].compactMap { $0 }).contains(where: { $0.date != nil })
        {
            self.addOnce(.dateRangeUndated, "there are date ranges but no date", in: url)
        }
        for range in list.dateRanges {
            self.checkDateRange(range, url)
            if let known = self.histories[index].dateRanges[range.id] {
                for (name, value) in known.attributes where range.attributes[name].map({ $0 != value }) ?? false {
                    self.addOnce(
                        .dateRangeChanged,
                        "\(range.id): \(name) went from \(value.text) to \(range.attributes[name]?.text ?? "")",
                        in: url)
                }
            }
            let seenAt = self.histories[index].dateRanges[range.id]?.seenAt ?? self.now
            self.histories[index].dateRanges[range.id] = (range.attributes, seenAt)
        }
        let listed = Set(list.dateRanges.map(\.id))
        let firstDate = list.segments.first?.date
        for (id, known) in self.histories[index].dateRanges where !listed.contains(id) {
            self.histories[index].dateRanges[id] = nil
            guard !list.isEnded, let firstDate, let end = Self.end(of: known.attributes) else { continue }
            if end > firstDate {
                self.addOnce(.dateRangeRemoved, "\(id) was removed but still overlaps the listed media", in: url)
            }
        }
    }

    /// Returns the date at which a date range ends, or at which it starts if it has no end; `nil` if it has no valid start.
    static func end(of attributes: [String: AttributeList.Value]) -> Int64? {
        guard let start = Self.date(attributes["START-DATE"]) else { return nil }
        return Self.date(attributes["END-DATE"])
            ?? attributes["DURATION"].flatMap { PlaylistScalars.nanoseconds($0.text) }.map { start &+ $0 } ?? start
    }

    private static func date(_ value: AttributeList.Value?) -> Int64? {
        value.flatMap { PlaylistScalars.date($0.text) }
    }

    private mutating func checkDateRange(_ range: MediaList.DateRange, _ url: String) {
        func fault(_ what: String) { self.addOnce(.dateRangeValue, "\(range.id): \(what)", in: url) }
        let attributes = range.attributes
        let start = Self.date(attributes["START-DATE"])
        if attributes["START-DATE"] != nil, start == nil { fault("START-DATE is not a date") }
        let duration = attributes["DURATION"].map { PlaylistScalars.nanoseconds($0.text) }
        if let duration, duration == nil { fault("DURATION is not a number of seconds") }
        if attributes["PLANNED-DURATION"].map({ PlaylistScalars.nanoseconds($0.text) == nil }) ?? false {
            fault("PLANNED-DURATION is not a number of seconds")
        }
        if let end = attributes["END-DATE"] {
            if let end = Self.date(end), let start {
                if end < start { fault("END-DATE is before START-DATE") }
                if let length = duration.flatMap({ $0 }), (end - start - length).magnitude > 2_000_000 {
                    fault("END-DATE and DURATION do not agree")
                }
            } else {
                fault("END-DATE is not a date")
            }
        }
        if attributes["END-ON-NEXT"] != nil {
            if attributes["CLASS"] == nil { fault("END-ON-NEXT needs a CLASS") }
            if attributes["DURATION"] != nil || attributes["END-DATE"] != nil {
                fault("END-ON-NEXT is used together with DURATION or END-DATE")
            }
        }
        for (name, value) in attributes where name.hasPrefix("X-") && !value.isQuoted {
            let isHex = value.text.hasPrefix("0x") || value.text.hasPrefix("0X")
            if !isHex, PlaylistScalars.nanoseconds(value.text, signed: true) == nil {
                fault("\(name) is neither a quoted string nor hexadecimal nor a number")
            }
        }
    }

    // MARK: Rendition reports

    mutating func checkReports(_ list: MediaList, _ index: Int, _ request: LintRequest, _ reply: LintReply) {
        // This reply must reach the positions that other playlists reported before the request was sent.
        for claim in self.histories[index].claims where claim.at <= reply.sentAt && list.edge < claim.edge {
            self.add(
                .reportWrong,
                "\(claim.by) reports \(Self.text(claim.edge)), this playlist ends at \(Self.text(list.edge))",
                index)
        }
        self.histories[index].claims.removeAll { $0.at <= reply.sentAt }
        guard list.blocksReload, list.hasParts, !list.isEnded, !reply.isLocal else { return }
        let url = self.histories[index].url
        var reported: [String: MediaList.Report] = [:]
        for report in list.reports {
            reported[Location.withoutQuery(Location.resolve(report.uri, against: url))] = report
        }
        for other in self.histories
        where other.index != index && !other.isEnded && other.failures == 0 && !other.isIFrames && !other.isSubtitles {
            guard let report = reported[Location.withoutQuery(other.url)] else {
                self.addOnce(.reportMissing, "there is no report for \(other.name)", in: url)
                continue
            }
            guard let number = report.lastNumber else {
                self.addOnce(.reportWrong, "the report for \(other.name) has no LAST-MSN", in: url)
                continue
            }
            let edge = MediaList.Edge(number: number, part: report.lastPart ?? -1)
            if self.histories[other.index].claims.count < 16 {
                self.histories[other.index].claims.append((edge, self.now, self.histories[index].name))
            }
            // A report may be one part behind; only edges that were known before this request count.
            guard let known = other.known, known.at <= reply.sentAt else { continue }
            let least =
                known.edge.part > 0
                ? MediaList.Edge(number: known.edge.number, part: known.edge.part - 1)
                : MediaList.Edge(number: known.edge.number &- 1, part: -1)
            if edge < least {
                self.add(
                    .reportWrong,
                    "\(other.name) was at \(Self.text(known.edge)) before but is reported at \(Self.text(edge))",
                    index)
            }
        }
    }
}
