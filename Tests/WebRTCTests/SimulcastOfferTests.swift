import MediaTypes
import Testing
import WebRTC

@Suite("Simulcast by a browser's offer: RFC 8853")
struct SimulcastOfferTests {
    /// A browser that sends three layers with retransmissions, and audio.
    private struct Browser {
        var media: RTCPeerMedia
        let video: NegotiatedTrack
        let audio: NegotiatedTrack
        let videoTrack: Int
        var output: [TrackPacket] = []
        var requested: Set<UInt32> = []
        private var numbers: [UInt16] = [10, 20_000, 65_530]
        private var repairs: [UInt16] = [1, 2, 3]
        private var last: [(sequence: UInt16, payload: [UInt8], timestamp: UInt32)?] = [nil, nil, nil]
        private var audioNumber: UInt16 = 0

        /// SSRCs of the layers in the order of the offer, their retransmissions, and audio.
        static let layers: [UInt32] = [101, 102, 103]
        static let repair: [UInt32] = [201, 202, 203]
        static let audioSSRC: UInt32 = 300

        init(offer: String) throws {
            let tracks = try Offers.answer(offer).session.tracks
            self.media = RTCPeerMedia(tracks: tracks, settings: RTCPeerMediaSettings())
            self.videoTrack = try #require(tracks.firstIndex { $0.kind == .video })
            self.video = tracks[self.videoTrack]
            self.audio = try #require(tracks.first { $0.kind == .audio })
        }

        private func elements(_ track: NegotiatedTrack, rid: String?, isRepair: Bool) -> [(id: UInt8, bytes: [UInt8])] {
            var elements: [(id: UInt8, bytes: [UInt8])] = []
            if let id = track.midExtension { elements.append((id, Array(track.mid.utf8))) }
            let id = isRepair ? track.repairedRidExtension : track.ridExtension
            if let id, let rid { elements.append((id, Array(rid.utf8))) }
            return elements
        }

        /// The first bytes of a frame.
        private func start(isKey: Bool) -> [UInt8] {
            self.video.codec == .vp8 ? [0x10, isKey ? 0 : 1] : [isKey ? 0x67 : 0x41]
        }

        private mutating func receive(_ packet: PacketBuilder, _ time: Int64) {
            let verdict = self.media.receiveRTP(packet.bytes, at: ms(time), into: &self.output)
            #expect(verdict == .taken)
        }

        /// Sends a frame of each layer that is not paused each 10 ms, a key frame each second, audio each 20 ms, and each
        /// 100 ms a probe that repeats the last frame.
        ///
        /// - Parameter sizes: Bytes of a frame by layer; 0: paused.
        mutating func run(_ milliseconds: Range<Int64>, _ sizes: [Int]) {
            for time in stride(from: milliseconds.lowerBound, to: milliseconds.upperBound, by: 10) {
                for layer in 0..<3 where sizes[layer] > 0 { self.frame(layer, sizes[layer], time) }
                if time % 20 == 0 {
                    self.audioNumber &+= 1
                    self.receive(
                        PacketBuilder(
                            payloadType: self.audio.payloadType, ssrc: Self.audioSSRC, sequence: self.audioNumber,
                            timestamp: UInt32(time * 48),
                            elements: self.elements(self.audio, rid: nil, isRepair: false), payload: [0xFC, 1, 2]),
                        time)
                }
                while let deadline = self.media.deadline, deadline <= ms(time) {
                    for datagram in self.media.advance(to: deadline, into: &self.output) {
                        for case .pictureLoss(_, let ssrc) in RTCPPacket.parse(datagram) ?? [] {
                            self.requested.insert(ssrc)
                        }
                    }
                }
            }
        }

        private mutating func frame(_ layer: Int, _ size: Int, _ time: Int64) {
            let rid = self.video.rids[layer]
            if time % 100 == 50, let last = self.last[layer], let type = self.video.rtxPayloadType {
                self.repairs[layer] &+= 1
                self.receive(
                    PacketBuilder(
                        payloadType: type, ssrc: Self.repair[layer], sequence: self.repairs[layer],
                        timestamp: last.timestamp, elements: self.elements(self.video, rid: rid, isRepair: true),
                        payload: [UInt8(last.sequence >> 8), UInt8(last.sequence & 0xFF)] + last.payload), time)
            }
            self.numbers[layer] &+= 1
            let payload = self.start(isKey: time == 0 || time % 1_000 == 500) + [UInt8](repeating: 0, count: size)
            let timestamp = UInt32(time * 90) &+ UInt32(layer) * 0x5000_0000
            self.receive(
                PacketBuilder(
                    payloadType: self.video.payloadType, ssrc: Self.layers[layer], sequence: self.numbers[layer],
                    timestamp: timestamp, marker: true, elements: self.elements(self.video, rid: rid, isRepair: false),
                    payload: payload), time)
            self.last[layer] = (self.numbers[layer], payload, timestamp)
        }

        /// The layer of the last frame that was given out.
        var layer: Int? { self.output.last { $0.track == self.videoTrack }?.layer }
    }

    @Test(
        "of three simulcast layers with retransmissions the largest is used, the next one while it pauses; audio continues",
        arguments: ["chromium-simulcast", "firefox-simulcast"])
    func layers(name: String) throws {
        var browser = try Browser(offer: Offers.text(name))
        #expect(browser.video.rids == ["h", "m", "l"] && browser.video.rtxPayloadType != nil)
        browser.run(0..<6_000, [600, 200, 60])
        #expect(browser.layer == 0)
        #expect(browser.media.sourceCount == 7, "three layers, their retransmissions and audio")
        browser.run(6_000..<9_000, [0, 200, 60])
        #expect(browser.layer == 1)
        browser.run(9_000..<12_000, [0, 0, 60])
        #expect(browser.layer == 2)
        browser.run(12_000..<18_000, [600, 200, 60])
        #expect(browser.layer == 0)
        #expect(browser.requested.isSubset(of: Browser.layers) && browser.requested.count >= 2)
        #expect(browser.output.count { $0.track != browser.videoTrack } == 900, "all audio")
        var layer = -1
        for given in browser.output where given.track == browser.videoTrack && given.layer != layer {
            layer = given.layer
            let isKey = KeyFrameStart.isAt(given.packet.payload, codec: browser.video.codec)
            #expect(isKey && given.packet.isAfterLoss, "a layer begins with a key frame")
        }
        let statistics = browser.media.statistics(at: ms(18_000))
        #expect(statistics.refusedSource == 0 && statistics.unknownPayloadType == 0)
        #expect(statistics.tracks[browser.videoTrack].ordering.lost == 0)
    }

    @Test("four simulcast layers are answered without retransmissions, whose SSRCs would not fit beside audio")
    func four() throws {
        let three = try Offers.text("chromium-simulcast")
        let offer = three.replacing("a=simulcast:send h;m;l", with: "a=rid:x send\r\na=simulcast:send h;m;l;x")
        let (session, answer) = try Offers.answer(offer)
        let video = try #require(session.tracks.first { $0.kind == .video })
        #expect(video.rids == ["h", "m", "l", "x"] && video.rtxPayloadType == nil && video.hasNACK)
        #expect(!answer.contains("apt=") && answer.contains("a=simulcast:recv h;m;l;x\r\n"))
        #expect(2 * StreamTable.mostLayers + 1 <= StreamTable.mostEntries)
    }
}
