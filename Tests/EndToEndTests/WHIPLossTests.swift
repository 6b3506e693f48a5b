import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    @Suite("WHIP publishers behind networks that lose packets")
    struct WHIPLossTests {
        /// A network, and what may be lost in it.
        struct Network: Sendable {
            let name: String
            let conditions: LossyRelay.Conditions
            /// Greatest share of lost frames, 0…1.
            var lostShare = 0.0
            /// Frames that may be lost beyond the share, in each minute that has begun.
            var lostPerMinute = 0
            /// Longest time without a frame in seconds; nil: not limited.
            var longestGap: Double?

            /// - Parameter frames: Number of frames that were sent.
            func mostLost(of frames: Int, seconds: Double) -> Int {
                let minutes = Int((seconds / 60).rounded(.up))
                return Int((Double(frames) * self.lostShare).rounded(.up)) + self.lostPerMinute * minutes
            }
        }

        /// Whether five seeds run for a minute each: TANDEM_WHIP_LOSS=full TANDEM_TEST_MINUTES=10.
        private static let isFull = ProcessInfo.processInfo.environment["TANDEM_WHIP_LOSS"] == "full"
        private static let seconds = Self.isFull ? 60.0 : 8.0
        private static let seeds: [UInt64] = Self.isFull ? [1, 2, 3, 4, 5] : [1]

        private static let networks: [Network] = [
            Network(name: "2 % of the media", conditions: .init(mediaLoss: 0.02)),
            Network(name: "5 % of the media", conditions: .init(mediaLoss: 0.05), lostPerMinute: 1),
            Network(name: "10 % of the media", conditions: .init(mediaLoss: 0.1), lostShare: 0.005),
            Network(
                name: "5 % of both directions", conditions: .init(mediaLoss: 0.05, feedbackLoss: 0.05), lostShare: 0.001
            ),
            Network(
                name: "10 % of both directions", conditions: .init(mediaLoss: 0.1, feedbackLoss: 0.1), lostShare: 0.01
            ),
            Network(
                name: "bursts of 30 packets", conditions: .init(bursts: [(2, 30), (5, 30)]), lostShare: 1,
                longestGap: 0.5),
            Network(
                name: "outages of 200 ms", conditions: .init(outages: [2..<2.2, 5..<5.2]), lostShare: 1,
                longestGap: 0.7),
        ]

        @Test(
            "over seven lossy networks, WHIP publishers keep to limits of lost frames or gaps; an RTMP pane repeats a frame per 5 s at most"
        )
        func networks() throws {
            let media = try Media.require()
            let work = try WorkDirectory()
            let clip = try CodedClip(media, work)
            for seed in Self.seeds { try self.run(seed, clip, work) }
        }

        /// Publishes through all networks at once.
        private func run(_ seed: UInt64, _ clip: CodedClip, _ work: WorkDirectory) throws {
            let uids = Self.networks.indices.map { "300\($0)" }
            let sources = uids.map { #", { "uid": "\#($0)", "streamKey": "key-\#($0)" }"# }.joined()
            // The pane beside the RTMP publisher shows 10 % of loss in both directions.
            let pipeline = Rooms.live(
                work.path("out-\(seed)"), renditions: Rooms.medium, canvas: (640, 360), scene: "pk"
            )
            .replacingOccurrences(
                of: #"{ "uid": "2002", "streamKey": "b", "volume": 100 }"#, with: sources.dropFirst(2)
            )
            .replacingOccurrences(of: #""uids": ["2002"]"#, with: #""uids": ["3000"]"#)
            .replacingOccurrences(of: #""1001", "2002""#, with: #""1001", "3004""#)
            let room = try RunningRoom(Rooms.withWHIP(pipeline))
            let whip = try room.whip
            let anna = try Publisher.pattern("ANNA", to: room.url("a"), size: "640x360")
            try room.event("source.live", uid: "1001")
            var relays: [LossyRelay] = [], senders: [WHIPSender] = []
            defer {
                for sender in senders { sender.vanish() }
                for relay in relays { relay.stop() }
            }
            for (index, network) in Self.networks.enumerated() {
                senders.append(
                    try WHIPSender(whip, key: room.key("key-\(uids[index])"), clip: clip) { port in
                        relays.append(
                            try LossyRelay(to: port, seed: seed * 100 + UInt64(index), network.conditions))
                        return relays[index].port
                    })
            }
            for uid in uids { try room.event("ingest.publishing", uid: uid) }
            try room.event("source.live", uid: "3004")
            Thread.sleep(forTimeInterval: 0.5)
            let before = try room.statistics()
            for relay in relays { relay.begin() }
            let gaps = try self.watch(room, uids, seconds: Self.seconds)
            let lateness = try room.statistics()
            for sender in senders { sender.finish() }
            for relay in relays { relay.end() }
            // What is still missing is resent, or given up after at most 440 ms.
            Thread.sleep(forTimeInterval: 0.8)
            let after = try room.statistics()
            for (index, network) in Self.networks.enumerated() {
                try self.expect(
                    network, seed, senders[index].counters, try #require(after[uids[index]]), gaps[index],
                    requestsBefore: before[uids[index]]?.keyFrameRequests ?? 0)
            }
            for sender in senders { #expect(try sender.delete() == 200) }
            let pane = try #require(lateness["1001"]), paneBefore = try #require(before["1001"])
            expectTiming(
                pane.repeated - paneBefore.repeated, atMost: Int(Self.seconds / 5), "repeated frames of the other pane")
            let ticks = try #require(try room.state()["ticks"] as? [String: Any])
            expectOnTime(ticks)
            #expect(try room.end() == 0)
            anna.stop()
        }

        /// Counts frames for some time.
        ///
        /// - Returns: The longest time without a frame, in seconds, for each source.
        private func watch(_ room: RunningRoom, _ uids: [String], seconds: Double) throws -> [Double] {
            let begun = LossyRelay.now()
            var last = uids.map { _ in (packets: -1, time: begun) }
            var longest = uids.map { _ in 0.0 }
            while LossyRelay.now() - begun < seconds {
                let statistics = try room.statistics()
                let now = LossyRelay.now()
                for (index, uid) in uids.enumerated() {
                    let packets = statistics[uid]?.packets ?? 0
                    if packets != last[index].packets { last[index] = (packets, now) }
                    longest[index] = max(longest[index], now - last[index].time)
                }
                Thread.sleep(forTimeInterval: 0.02)
            }
            return longest
        }

        private func expect(
            _ network: Network, _ seed: UInt64, _ sent: WHIPSender.Counters, _ counters: SourceCounters, _ gap: Double,
            requestsBefore: Int
        ) throws {
            let lost = sent.frames - counters.packets
            EndToEnd.report(
                String(
                    format:
                        "%@, seed %d: %d of %d frames and %d of %d packets lost, %d resent, %d NACKs, %d PLIs, gap %.2f s",
                    network.name, Int(seed), lost, sent.frames, counters.networkLost, sent.packets, sent.resent,
                    counters.nacks, counters.keyFrameRequests - requestsBefore, gap))
            #expect(sent.isConnected && !sent.isClosed)
            expectTiming(
                lost, atMost: network.mostLost(of: sent.frames, seconds: Self.seconds),
                "lost frames with \(network.name)")
            expectTiming(
                counters.keyFrameRequests - requestsBefore, atMost: max(0, lost), "PLIs with \(network.name)")
            expectTiming(counters.damaged, atMost: 0, "packets that could not be decoded with \(network.name)")
            if let longest = network.longestGap {
                expectTiming(gap, atMost: longest, "seconds without a frame with \(network.name)")
            } else {
                #expect(counters.networkLost > 0 && sent.resent > 0, "\(network.name)")
            }
        }
    }
}
