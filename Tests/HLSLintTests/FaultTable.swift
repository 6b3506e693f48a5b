import HLSLint

extension Fault {
    private static func text(
        _ rule: Rule, _ lists: Set<String> = ["720p.m3u8"], _ edit: @escaping @Sendable (String, Context) -> String
    ) -> Fault {
        Fault(rule: rule, text: { text, context in lists.contains(context.list) ? edit(text, context) : text })
    }

    private static let all: Set<String> = ["720p.m3u8", "360p.m3u8", "audio.m3u8"]

    private static func every(_ rule: Rule, _ edit: @escaping @Sendable (String, Context) -> String) -> Fault {
        self.text(rule, self.all, edit)
    }

    private static func master(_ rule: Rule, _ edit: @escaping @Sendable (String) -> String) -> Fault {
        Fault(rule: rule, multivariant: { text, _ in edit(text) })
    }

    /// Changes the media of one rendition.
    private static func bytes(
        _ rule: Rule, _ track: String = "720p", _ edit: @escaping @Sendable (String, [UInt8]) -> [UInt8]
    ) -> Fault {
        Fault(rule: rule, object: { name, bytes in name.hasPrefix(track) ? edit(name, bytes) : bytes })
    }

    private static func reply(
        _ rule: Rule, _ edit: @escaping @Sendable (String, Bool, inout LintReply) -> Void
    ) -> Fault {
        Fault(
            rule: rule,
            reply: { path, isListed, reply in
                var reply = reply
                edit(path, isListed, &reply)
                return reply
            })
    }

    /// At least one fault per rule, each planted alone into a valid presentation.
    static let table: [Fault] =
        text + durations + updates + pace + edge + reloads + dates + media + renditions + master + http

    private static let text: [Fault] = [
        .text(.playlistEncoding) { text, _ in "\u{FEFF}" + text },
        .text(.playlistHeader) { text, _ in text.replacing("#EXTM3U", with: "#EXTMU3") },
        .text(.playlistTorn) { text, _ in String(text.dropLast()) },
        .text(.attributeSyntax) { text, _ in text.replacing("YES,PART-HOLD", with: "YES, PART-HOLD") },
        .text(.attributeRepeated) { text, _ in
            text.replacing("INDEPENDENT=YES", with: "INDEPENDENT=YES,INDEPENDENT=YES")
        },
        .text(.attributeMissing) { text, _ in text.adding("#EXT-X-DEFINE:NAME=\"a\"\n#EXT-X-MAP:BYTERANGE=\"5@0\"") },
        .text(.tagValue) { text, _ in text.editing("#EXT-X-PROGRAM-DATE-TIME:") { String($0.dropLast()) } },
        .text(.tagRepeated) { text, _ in text.adding("#EXT-X-TARGETDURATION:2") },
        .text(.tagOrder) { text, _ in text.without("#EXT-X-DISCONTINUITY-S") + "#EXT-X-DISCONTINUITY-SEQUENCE:0\n" },
        .text(.tagLevel) { text, _ in text.adding("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\"") },
        .text(.versionLow) { text, _ in text.setting("EXT-X-VERSION", "3") },
        .text(.versionHigh) { text, _ in text.setting("EXT-X-VERSION", "12") },
    ]

    private static let durations: [Fault] = [
        .text(.targetMissing) { text, _ in text.without("#EXT-X-TARGETDURATION") },
        .every(.targetChanged) { text, context in context.isLate ? text.setting("EXT-X-TARGETDURATION", "3") : text },
        .text(.targetExceeded) { text, _ in text.editing("#EXTINF") { _ in "#EXTINF:2.50000," } },
        .text(.extinfWrong) { text, _ in text.editing("#EXTINF") { _ in "#EXTINF:2.16000," } },
        .text(.extinfDrift) { text, _ in text.editing("#EXTINF") { _ in "#EXTINF:2.12000," } },
    ]

    private static let updates: [Fault] = [
        .text(.mediaSequenceFell) { text, context in context.isLate ? text.setting("EXT-X-MEDIA-SEQUENCE", "0") : text
        },
        .text(.numberReused) { text, context in
            context.isLate ? text.atSegment(14) { $0.replacing("720p-1-14", with: "720p-1-99") } : text
        },
        .text(.segmentChanged) { text, context in
            context.isLate ? text.atSegment(14) { $0.hasPrefix("#EXTINF") ? "#EXTINF:2.13000," : $0 } : text
        },
        .text(.segmentsWithdrawn) { text, context in context.isLate ? context.earlier(2) : text },
        .text(.windowShort) { text, context in context.isLate ? text.keepingSegments(2) : text },
        .every(.discontinuitySequenceFell) { text, context in
            text.setting("EXT-X-DISCONTINUITY-SEQUENCE", context.isLate ? "4" : "5")
        },
        .every(.discontinuitySequenceWrong) { text, context in
            text.setting("EXT-X-DISCONTINUITY-SEQUENCE", context.isLate ? "1" : "0")
        },
        .every(.discontinuitySequenceMissing) { text, _ in
            text.without("#EXT-X-DISCONTINUITY-S").atSegment(12) {
                $0.hasPrefix("#EXT-X-PROGRAM") ? "#EXT-X-DISCONTINUITY\n\($0)" : $0
            }
        },
        .every(.typeChanged) { text, context in context.isLate ? text.adding("#EXT-X-PLAYLIST-TYPE:EVENT") : text },
        .every(.typeSliding) { text, _ in text.adding("#EXT-X-PLAYLIST-TYPE:EVENT") },
        Fault(
            rule: .endlistRemoved,
            text: { text, context in
                (50_000_000_000..<50_600_000_000).contains(context.at) ? text + "#EXT-X-ENDLIST\n" : text
            }),
        // The end tag stays for more than one read.
        .text(.endlistRemoved) { text, context in
            (50_000_000_000..<54_000_000_000).contains(context.at) ? text + "#EXT-X-ENDLIST\n" : text
        },
        .text(.changedAfterEnd) { text, context in context.isLate ? text + "#EXT-X-ENDLIST\n" : text },
        Fault(
            rule: .updateLate,
            delay: { name, at in
                name == "720p.m3u8" && (40_000_000_000..<45_000_000_000).contains(at) ? 45_000_000_000 - at : 0
            }),
        Fault(
            rule: .partLate,
            delay: { name, at in
                name == "720p.m3u8" && (40_100_000_000..<42_000_000_000).contains(at) ? 42_000_000_000 - at : 0
            }),
    ]

    /// Faults of slow servers. The first publishes an eighth slower than real time, with each pause within the rules.
    private static let pace: [Fault] = [
        Fault(rule: .updateSlow, delay: { _, at in at > 20_000_000_000 ? (at - 20_000_000_000) / 8 : 0 }),
        .reply(.segmentSlow) { path, _, reply in
            if path.hasPrefix("720p-1-20."), !isPart(path) { reply.receivedAt = reply.sentAt + 3_000_000_000 }
        },
        // Each segment takes only a tenth longer than it lasts, but all of them do.
        .reply(.segmentSlow) { path, _, reply in
            if path.hasPrefix("720p-1-"), !isPart(path), (sequence(path) ?? 0) >= 16 {
                reply.receivedAt = reply.sentAt + 2_350_000_000
            }
        },
        // Late by 1.2 s for one second of the room; then late by 0.4 s at every reload.
        .reply(.reloadLate) { path, _, reply in
            if path.hasPrefix("720p.m3u8?_HLS_msn"), (40_000_000_000..<41_000_000_000).contains(reply.sentAt) {
                reply.receivedAt += 1_200_000_000
            }
        },
        .reply(.reloadLate) { path, _, reply in
            if path.hasPrefix("720p.m3u8?_HLS_msn") { reply.receivedAt += 400_000_000 }
        },
    ]

    private static let edge: [Fault] = [
        .every(.serverControlChanged) { text, context in
            context.isLate ? text.replacing("CAN-SKIP-UNTIL=12.0", with: "CAN-SKIP-UNTIL=13.0") : text
        },
        .text(.partTargetChanged) { text, context in
            context.isLate ? text.replacing("PART-TARGET=0.534", with: "PART-TARGET=0.535") : text
        },
        .text(.partTargetMissing) { text, _ in text.without("#EXT-X-PART-INF") },
        .text(.holdBackShort) { text, _ in text.replacing("RELOAD=YES,", with: "RELOAD=YES,HOLD-BACK=5.9,") },
        .text(.partHoldBackMissing) { text, _ in text.replacing("PART-HOLD-BACK=1.61,", with: "") },
        .text(.partHoldBackShort) { text, _ in text.replacing("PART-HOLD-BACK=1.61", with: "PART-HOLD-BACK=1.33") },
        .text(.skipUntilShort) { text, _ in text.replacing("CAN-SKIP-UNTIL=12.0", with: "CAN-SKIP-UNTIL=11.9") },
        .text(.partLong) { text, _ in text.replacing("PART-TARGET=0.534", with: "PART-TARGET=0.530") },
        .text(.partShort) { text, _ in text.replacing("PART-TARGET=0.534", with: "PART-TARGET=0.640") },
        .text(.partChanged) { text, _ in
            text.contains("\n720p-1-15.m4s") ? text.replacing("720p-1-15.1.m4s", with: "720p-1-15.9.m4s") : text
        },
        .text(.partsWithdrawn) { text, context in
            text.mapLines { line in
                let name = line.split(separator: "\"").dropFirst().first.flatMap { sequence(String($0)) }
                guard line.hasPrefix("#EXT-X-PART:"), let name else { return line }
                return text.contains("\n720p-1-\(name).m4s") ? nil : line
            }
        },
        .text(.partSum) { text, _ in
            text.editing("#EXT-X-PART:") {
                $0.replacing("0.53333", with: "0.53000").replacing("0.53334", with: "0.53000")
            }
        },
        .text(.partDurationWrong) { text, _ in
            text.editing("#EXT-X-PART:") {
                $0.replacing("0.53333", with: "0.50000").replacing("0.53334", with: "0.50000")
            }
        },
        .bytes(.partsNotSegment) { name, bytes in
            sequence(name) != nil && !isPart(name) ? bytes.dropLast() + [bytes[bytes.count - 1] ^ 1] : bytes
        },
        .text(.independentUntrue) { text, _ in
            text.editing("#EXT-X-PART:") { $0.contains("INDEPENDENT") ? $0 : $0 + ",INDEPENDENT=YES" }
        },
        .text(.independentUnmarked) { text, _ in
            text.editing("#EXT-X-PART:") { $0.contains(".2.m4s") ? $0.replacing(",INDEPENDENT=YES", with: "") : $0 }
        },
        .text(.independentMissing) { text, _ in text.replacing(",INDEPENDENT=YES", with: "") },
        .text(.hintMissing) { text, _ in text.without("#EXT-X-PRELOAD-HINT") },
        .text(.hintBroken) { text, _ in
            text.editing("#EXT-X-PRELOAD-HINT") { $0.replacing(".m4s", with: ".mp4") }
        },
        .reply(.hintUnanswered) { path, isListed, reply in
            if path.hasPrefix("720p"), isPart(path), reply.receivedAt > reply.sentAt { reply.status = 404 }
        },
        .text(.hintAfterEnd) { text, _ in
            text.contains("ENDLIST") ? text + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"x.m4s\"\n" : text
        },
        .text(.reportMissing) { text, _ in text.without("#EXT-X-RENDITION-REPORT:URI=\"audio") },
        .text(.reportWrong) { text, _ in
            text.editing("#EXT-X-RENDITION-REPORT:URI=\"audio") { _ in
                "#EXT-X-RENDITION-REPORT:URI=\"audio.m3u8\",LAST-MSN=3,LAST-PART=0"
            }
        },
    ]

    private static let reloads: [Fault] = [
        .reply(.reloadUnanswered) { path, _, reply in
            if path.hasPrefix("720p.m3u8?_HLS_msn"), reply.sentAt > 40_000_000_000 { reply.status = 503 }
        },
        Fault(rule: .reloadTooEarly, ignoresWaiting: true),
        .reply(.reloadPartAlone) { path, _, reply in if path.hasSuffix("?_HLS_part=0") { reply.status = 200 } },
        .reply(.reloadTooFar) { path, _, reply in
            if reply.status == 400, path.contains("?_HLS_msn=") { reply.status = 200 }
        },
        .text(.deltaUnmergeable) { text, _ in
            text.editing("#EXT-X-SKIP") { _ in "#EXT-X-SKIP:SKIPPED-SEGMENTS=60" }
        },
        Fault(rule: .deltaWrong, ignoresSkip: true),
    ]

    private static let dates: [Fault] = [
        .every(.dateMissing) { text, _ in text.without("#EXT-X-PROGRAM-DATE-TIME") },
        .every(.dateWrong) { text, _ in text.movingDates(from: 16, by: 300) },
        .every(.dateRangeIncomplete) { text, _ in text.adding("#EXT-X-DATERANGE:ID=\"pk\",DURATION=3.0") },
        .every(.dateRangeChanged) { text, context in
            text.adding(
                "#EXT-X-DATERANGE:ID=\"pk\",START-DATE=\"2023-11-14T22:13:30Z\",PLANNED-DURATION=\(context.isLate ? 80 : 90)"
            )
        },
        .every(.dateRangeRemoved) { text, context in
            context.isLate
                ? text : text.adding("#EXT-X-DATERANGE:ID=\"pk\",START-DATE=\"2023-11-14T22:13:50Z\",DURATION=60")
        },
        .every(.dateRangeValue) { text, _ in
            text.adding("#EXT-X-DATERANGE:ID=\"pk\",START-DATE=\"2023-11-14T22:13:50Z\",END-ON-NEXT=YES")
        },
        .every(.dateRangeUndated) { text, _ in
            text.without("#EXT-X-PROGRAM-DATE-TIME")
                .adding("#EXT-X-DATERANGE:ID=\"pk\",START-DATE=\"2023-11-14T22:13:50Z\"")
        },
        .text(.dateRangesDiffer) { text, _ in
            text.adding("#EXT-X-DATERANGE:ID=\"pk\",START-DATE=\"2023-11-14T22:13:50Z\",DURATION=900")
        },
    ]

    private static let media: [Fault] = [
        .reply(.resourceMissing) { path, _, reply in if path == "720p-1-20.m4s" { reply.status = 404 } },
        .text(.mapMissing) { text, _ in text.without("#EXT-X-MAP") },
        .bytes(.mapUnreadable) { name, bytes in name.hasSuffix(".mp4") ? bytes.renaming("trak", "free") : bytes },
        .bytes(.mapNotEmpty) { _, bytes in bytes.patching("mvhd", 16, [0, 0, 0, 9]) },
        .bytes(.mapBrand) { name, bytes in
            ["iso6", "cmf2", "cmfc"].reduce(bytes) { $0.renaming($1, "mp42") }
        },
        .bytes(.segmentUnreadable) { name, bytes in sequence(name) == 20 ? bytes.dropLast(40) : bytes },
        .bytes(.addressing) { _, bytes in bytes.patching("tfhd", 1, [0, 0, 0]) },
        .bytes(.decodeTimeMissing) { _, bytes in bytes.renaming("tfdt", "free") },
        .bytes(.decodeTimeBroken) { name, bytes in
            (sequence(name) ?? 0) >= 20 ? bytes.movingDecodeTimes(300) : bytes
        },
        .bytes(.sequenceBroken) { _, bytes in bytes.patching("mfhd", 4, [0, 0, 0, 7]) },
        .bytes(.syncFlagUntrue) { _, bytes in
            var bytes = bytes
            for place in 5..<max(5, bytes.count)
            where bytes[place] == 0x65 && bytes[place - 2] == 3 && bytes[place - 1] == 0x84 {
                bytes[place] = 0x41
            }
            return bytes
        },
        .bytes(.idrMissing) { _, bytes in
            var bytes = bytes
            for place in 5..<max(5, bytes.count)
            where bytes[place] == 0x65 && bytes[place - 2] == 3 && bytes[place - 1] == 0x84 {
                bytes[place] = 0x41
            }
            return bytes
        },
        .bytes(.sliceDamaged) { name, bytes in
            sequence(name) == 20 ? bytes.overwriting(400, with: [UInt8](repeating: 0, count: 64)) : bytes
        },
        .bytes(.sliceDamaged) { name, bytes in
            sequence(name) == 20 ? bytes.overwriting(400, with: [UInt8](repeating: 0xA7, count: 64)) : bytes
        },
        .bytes(.frameTimesBroken) { name, bytes in
            sequence(name) == 20 ? bytes.movingOffsets(-3_000, onlyLast: true) : bytes
        },
        .bytes(.eventBroken) { _, bytes in bytes.patching("emsg", 0, [0]) },
        .bytes(.eventRepeated) { _, bytes in bytes.patching("emsg", 20, [0, 0, 0, 9]) },
        .bytes(.eventsDiffer, "360p") { _, bytes in bytes.renaming("emsg", "free") },
        .text(.keyVector) { text, _ in
            text.editing("#EXT-X-MAP") { "\($0)\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"" }
        },
        Fault(
            rule: .keyWrong,
            text: { text, context in
                context.list != "720p.m3u8"
                    ? text
                    : text.editing("#EXT-X-MAP") {
                        "\($0)\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x00000000000000000000000000000001"
                    }
            },
            reply: { path, _, reply in
                var reply = reply
                if path == "k" { (reply.status, reply.body) = (200, [1, 2, 3]) }
                return reply
            }),
        .reply(.segmentGone) { path, isListed, reply in
            if path.hasPrefix("720p-1-"), !isPart(path), !isListed { reply.status = 404 }
        },
        .reply(.partGone) { path, isListed, reply in
            if path.hasPrefix("720p-1-"), isPart(path), !isListed { reply.status = 404 }
        },
        .bytes(.webVTTBroken, "en") { _, bytes in Array(bytes.dropFirst()) },
        .bytes(.webVTTBroken, "en") { _, bytes in
            Array("\(String(decoding: bytes, as: UTF8.self))\n10:00:00.000 --> 10:00:01.000\nlater\n".utf8)
        },
        .text(.iFrameList, ["720p-iframes.m3u8"]) { text, _ in text.without("#EXT-X-I-FRAMES-ONLY") },
        .text(.iFrameRange, ["720p-iframes.m3u8"]) { text, _ in
            text.editing("#EXT-X-BYTERANGE") { $0.replacing("@", with: "@1") }
        },
    ]

    private static let renditions: [Fault] = [
        .text(.targetDiffers) { text, _ in text.setting("EXT-X-TARGETDURATION", "3") },
        .text(.typeDiffers) { text, _ in text.adding("#EXT-X-PLAYLIST-TYPE:EVENT") },
        .text(.serverControlDiffers) { text, _ in text.replacing("UNTIL=12.0", with: "UNTIL=14.0") },
        .text(.discontinuityDiffers, ["360p.m3u8"]) { text, _ in text.setting("EXT-X-DISCONTINUITY-SEQUENCE", "3") },
        .text(.datesDiffer, ["360p.m3u8"]) { text, _ in text.movingDates(from: 0, by: 100) },
        .bytes(.boundariesDiffer, "360p") { _, bytes in bytes.movingDecodeTimes(6_000) },
        .bytes(.frameTimesDiffer, "360p") { _, bytes in bytes.movingOffsets(3_000) },
        .bytes(.segmentMixedUp) { name, bytes in
            guard sequence(name) == 20, let script = try? Script.shared.get() else { return bytes }
            return script.objects[name.replacing("720p", with: "360p")]?.bytes ?? bytes
        },
        Fault(rule: .renditionBehind, delay: { name, _ in name == "360p.m3u8" ? 9_000_000_000 : 0 }),
    ]

    private static let master: [Fault] = [
        .master(.bandwidthMissing) { $0.replacing("STREAM-INF:BANDWIDTH=", with: "STREAM-INF:SCORE=") },
        .master(.bandwidthExceeded) { $0.replacing(":BANDWIDTH=", with: ":BANDWIDTH=1000,SCORE=") },
        .master(.averageBandwidthMissing) { $0.replacing(",AVERAGE-BANDWIDTH=", with: ",SCORE=") },
        .master(.averageBandwidthExceeded) { $0.replacing("AVERAGE-BANDWIDTH=", with: "AVERAGE-BANDWIDTH=900,SCORE=") },
        .master(.codecsMissing) { $0.replacing("CODECS=", with: "X-CODECS=") },
        .master(.codecsWrong) { $0.replacing(",mp4a.40.2", with: "") },
        .master(.codecsWrong) { $0.replacing(",mp4a.40.2", with: ",mp4a.40.5") },
        .master(.channelsWrong) { $0.replacing("CHANNELS=\"2\"", with: "CHANNELS=\"6\"") },
        .master(.resolutionMissing) { $0.replacing("RESOLUTION=", with: "X-RESOLUTION=") },
        .master(.resolutionWrong) { $0.replacing("RESOLUTION=1280x720", with: "RESOLUTION=1280x722") },
        .master(.frameRateMissing) { $0.replacing("FRAME-RATE=", with: "X-FRAME-RATE=") },
        .master(.frameRateWrong) { $0.replacing("FRAME-RATE=30.000", with: "FRAME-RATE=25.000") },
        .master(.groupMissing) { $0.replacing("AUDIO=\"audio\"", with: "AUDIO=\"sound\"") },
        .master(.groupNameRepeated) { text in
            text.adding(text.playlistLines.first { $0.hasPrefix("#EXT-X-MEDIA:") } ?? "")
        },
        .master(.languageMissing) { $0.replacing("LANGUAGE=\"und\",", with: "") },
        .master(.captionsMixed) { $0.replacing(",CLOSED-CAPTIONS=NONE", with: "", maxReplacements: 1) },
        Fault(
            rule: .multivariantChanged,
            multivariant: { text, at in at > 40_000_000_000 ? text.replacing("30.000", with: "30.001") : text }),
    ]

    private static let http: [Fault] = [
        .reply(.contentType) { path, _, reply in
            if path.hasPrefix("720p.m3u8") { reply.headers["content-type"] = "application/x-mpegURL" }
        },
        .reply(.gzipMissing) { path, _, reply in
            if path.hasPrefix("720p.m3u8") { reply.headers["content-encoding"] = nil }
        },
        .reply(.cachingMissing) { path, _, reply in
            if path.hasPrefix("720p-1-20") { reply.headers["cache-control"] = nil }
        },
        .reply(.cachingLong) { path, _, reply in
            if path.hasPrefix("720p.m3u8") { reply.headers["cache-control"] = "public, max-age=60" }
        },
        .reply(.redirected) { path, _, reply in if path == "720p.m3u8" { reply.status = 302 } },
    ]
}
