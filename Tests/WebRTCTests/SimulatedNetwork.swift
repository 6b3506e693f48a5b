import MediaTypes
import TestSupport
import WebRTC

/// A publisher, a network with loss, reordering and duplicates, and ``RTCPeerMedia``, in steps of one millisecond.
struct SimulatedNetwork {
    struct Conditions {
        /// Lost packets of each direction, 0…1.
        var mediaLoss = 0.0
        var feedbackLoss = 0.0
        /// Share of packets of each direction that arrive up to 5 ms later: up to five others overtake them.
        var reordering = 0.1
        var duplicates = 0.02
        /// Milliseconds of one direction.
        var delay = 30
        /// Lost sequences of packets, by the millisecond in which they begin, and their count.
        var bursts: [(start: Int, count: Int)] = []
        /// Milliseconds in which nothing arrives.
        var outages: [Range<Int>] = []
    }

    struct Result {
        /// Frames that began after the first key frame.
        var frames = 0
        /// Frames of which a packet is missing.
        var lost = 0
        /// Frames that arrived whole but follow a lost one without a key frame between.
        var undecodable = 0
        var audioPackets = 0
        /// Packets out of order, repeated, or with wrong bytes.
        var wrong = 0
        var statistics = RTCMediaStatistics()
        var keyFrames = 0
        var requestsForAcknowledged = 0
        var mostWaitingBytes = 0
        var worstLatency: Int64 = 0

        /// Frames that a viewer does not see.
        var notShown: Int { self.lost + self.undecodable }
    }

    private struct Decoder {
        var result = Result()
        var frame = -1
        var next = 0
        var isBroken = true
        var isFirst = true
        var needsKeyFrame = false
        var lastSequence: Int64 = -1

        /// Takes a packet of the video track.
        mutating func receive(_ packet: OrderedPacket) {
            if packet.sequence <= self.lastSequence { self.result.wrong += 1 }
            self.lastSequence = packet.sequence
            let bytes = Array(packet.payload)
            guard bytes.count == 8 else {
                self.result.wrong += 1
                return
            }
            let frame = Int(bytes[1]) << 24 | Int(bytes[2]) << 16 | Int(bytes[3]) << 8 | Int(bytes[4])
            let (index, count, isKey) = (Int(bytes[5]), Int(bytes[6]), bytes[7] == 1)
            if self.isFirst {
                // The stream begins with the first packet of a key frame.
                guard isKey, index == 0 else { return }
                self.isFirst = false
                self.frame = frame - 1
                self.next = 0
                self.isBroken = false
            }
            if frame != self.frame {
                // The last frame was not finished, and those between are missing.
                if self.next != 0 { self.lose() }
                for _ in self.frame + 1..<max(frame, self.frame + 1) { self.lose() }
                self.frame = frame
                self.next = 0
                self.isBroken = index != 0
            }
            if index != self.next, !self.isBroken { self.isBroken = true }
            if packet.isAfterLoss != self.isBroken, self.isBroken, index == 0 { self.result.wrong += 1 }
            self.next = index + 1
            guard index == count - 1 else { return }
            self.next = 0
            if self.isBroken {
                self.lose()
            } else {
                self.result.frames += 1
                if isKey { self.needsKeyFrame = false }
                if self.needsKeyFrame { self.result.undecodable += 1 }
            }
        }

        private mutating func lose() {
            self.result.frames += 1
            self.result.lost += 1
            self.needsKeyFrame = true
        }
    }

    static func run(
        seed: UInt64, seconds: Int, resending: SimulatedSender.Resending, conditions: Conditions,
        change: (inout SimulatedSender) -> Void = { _ in }
    ) -> Result {
        // Seeds of `TestRandom` that differ by 1 give shifted sequences of numbers.
        var random = TestRandom(state: seed &* 0xD1B5_4A32_D192_ED03)
        var sender = SimulatedSender(
            seed: seed, resending: resending, roundTrip: ms(Int64(2 * conditions.delay)))
        change(&sender)
        let tracks = [
            NegotiatedTrack.audio,
            NegotiatedTrack.video.with { if resending != .rtx { $0.rtxPayloadType = nil } },
        ]
        var receiver = RTCPeerMedia(tracks: tracks, settings: RTCPeerMediaSettings())
        var decoder = Decoder()
        // Datagrams by the millisecond of arrival.
        var toReceiver = [[(bytes: [UInt8], isRTCP: Bool)]](repeating: [], count: 512)
        var toSender = [[[UInt8]]](repeating: [], count: 512)
        var output: [TrackPacket] = []
        var burst = 0
        var nextTimer = 0
        for tick in 1...(seconds * 1_000 + 500) {
            let now = ms(Int64(tick))
            if let start = conditions.bursts.first(where: { $0.start == tick }) { burst = start.count }
            let isOut = conditions.outages.contains { $0.contains(tick) }
            for datagram in sender.tick(tick, isOver: tick > seconds * 1_000) {
                if burst > 0, !datagram.isRTCP {
                    burst -= 1
                    continue
                }
                if isOut || Double.random(in: 0..<1, using: &random) < conditions.mediaLoss { continue }
                var delay = conditions.delay
                if Double.random(in: 0..<1, using: &random) < conditions.reordering {
                    delay += Int.random(in: 1...5, using: &random)
                }
                toReceiver[(tick + delay) & 511].append(datagram)
                if Double.random(in: 0..<1, using: &random) < conditions.duplicates {
                    toReceiver[(tick + delay + 3) & 511].append(datagram)
                }
            }
            for datagram in toReceiver[tick & 511] {
                if datagram.isRTCP {
                    _ = receiver.receiveRTCP(datagram.bytes, at: now)
                } else {
                    _ = receiver.receiveRTP(datagram.bytes, at: now, into: &output)
                }
            }
            toReceiver[tick & 511].removeAll(keepingCapacity: true)
            // As the timer of the listener, not more often than every 5 ms.
            if let deadline = receiver.deadline, deadline <= now, tick >= nextTimer {
                nextTimer = tick + 5
                for bytes in receiver.advance(to: now, into: &output)
                where Double.random(in: 0..<1, using: &random) >= conditions.feedbackLoss {
                    var delay = conditions.delay
                    if Double.random(in: 0..<1, using: &random) < conditions.reordering {
                        delay += Int.random(in: 1...5, using: &random)
                    }
                    toSender[(tick + delay) & 511].append(bytes)
                }
            }
            for bytes in toSender[tick & 511] { sender.receive(bytes, at: now) }
            toSender[tick & 511].removeAll(keepingCapacity: true)
            for given in output {
                if given.track == 0 {
                    decoder.result.audioPackets += 1
                    continue
                }
                decoder.result.worstLatency = max(decoder.result.worstLatency, now - given.packet.arrival)
                let lost = decoder.result.lost
                decoder.receive(given.packet)
                if decoder.result.lost > lost || decoder.isFirst { receiver.requestKeyFrame(track: 1, at: now) }
            }
            output.removeAll(keepingCapacity: true)
            decoder.result.mostWaitingBytes = max(decoder.result.mostWaitingBytes, receiver.waitingBytes)
        }
        decoder.result.statistics = receiver.statistics(at: ms(Int64(seconds * 1_000)))
        decoder.result.keyFrames = sender.keyFrames
        decoder.result.requestsForAcknowledged = sender.requestsForAcknowledged
        return decoder.result
    }
}
