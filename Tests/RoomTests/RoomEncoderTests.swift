import Encoding
import LibAV
import MediaTypes
import PipelineSpec
import Synchronization
import Testing

extension InProcess {
    @Suite("Rooms with hardware encoders")
    struct EncoderTests {
        /// Number of frames whose packets the fake hardware encoder has output.
        private final class FramesOutput: Sendable {
            let count = Atomic<Int>(0)
        }

        /// A fake hardware encoder, made of libx264, whose device is lost before a frame.
        private final class Failing: FrameEncoder {
            private let encoder: any FrameEncoder
            private let frame: Int64
            private let output: FramesOutput

            init(_ encoder: any FrameEncoder, at frame: Int64, output: FramesOutput) {
                (self.encoder, self.frame, self.output) = (encoder, frame, output)
            }

            var parameterSets: [UInt8] { self.encoder.parameterSets }

            func encode(
                _ picture: Picture, pts: Int64, forceIDR: Bool, forceP: Bool, _ body: (CodedPacket) -> Void
            ) throws(MediaError) {
                guard pts < self.frame else {
                    throw MediaError(.rejected, "the device is lost", at: "fake", fix: "repair it")
                }
                try self.encoder.encode(picture, pts: pts, forceIDR: forceIDR, forceP: forceP) { packet in
                    self.output.count.add(1, ordering: .relaxed)
                    body(packet)
                }
            }

            func finish(_ body: (CodedPacket) -> Void) throws(MediaError) { try self.encoder.finish(body) }
        }

        /// - Parameter frame: First frame at which the hardware encoder fails; nil: it does not open.
        private static func encoders(failingAt frame: Int64?, output: FramesOutput = FramesOutput()) -> LadderEncoders {
            LadderEncoders(
                video: { settings, place throws(MediaError) in
                    guard settings.implementation.isHardware else {
                        return try VideoEncoder.open(settings, place: place)
                    }
                    guard let frame else {
                        throw MediaError(.unavailable, "no device", at: place, fix: settings.implementation.remedy)
                    }
                    var own = settings
                    own.implementation = .libx264
                    return Failing(try VideoEncoder.open(own, place: place), at: frame, output: output)
                }, audio: LadderEncoders.libav.audio)
        }

        private static func pipeline(_ path: String, _ more: String = "") -> String {
            HarnessRooms.duel(path).replacing(
                #""bitrate": 100000"#, with: #""encoder": "h264_nvenc", \#(more)"bitrate": 100000"#)
        }

        @Test(
            "libx264 replaces a failed hardware encoder without a lost frame or a new map; event, alarm, state and metric report it",
            .timeLimit(.minutes(1)))
        func midstream() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let output = FramesOutput()
            let room = try await RoomHarness.open(Self.pipeline(directory.path)) {
                $0.encoders = Self.encoders(failingAt: 47, output: output)
            }
            try await room.goLive(HarnessRooms.first, sending: .noise)
            func encoder() async throws -> String? {
                try await room.state().element("renditions", "name", "90p")?[key: "encoder"]?.string
            }
            #expect(try await encoder() == "h264_nvenc")
            let event = try await room.run(until: "encoder.fallback", within: 10)
            // libx264 begins with the first frame whose packet the failed encoder had not output.
            let encoded = output.count.load(ordering: .relaxed)
            #expect(event.integer("tick") == Int64(encoded) && event.text("rendition") == "90p", "\(encoded)")
            #expect((1...47).contains(encoded))
            try await room.run(until: "alarm.set") { $0.member("alarm", "type")?.string == "encoder.fallback" }
            try await room.publish(seconds: 6)
            #expect(try await encoder() == "libx264")
            let metric = #"tandem_rendition_encoder{encoder="libx264",rendition="90p"} 1"#
            let other = #"tandem_rendition_encoder{rendition="90p",encoder="libx264"} 1"#
            let metrics = room.room.metricsText()
            #expect(metrics.contains(metric) || metrics.contains(other))
            let ticks = try await room.state().member("ticks")
            #expect(ticks?[key: "lost"]?.integer == 0)
            try await room.end()
            let playlist = try directory.playlist("90p.m3u8")
            #expect(playlist.segments.allSatisfy { !$0.isDiscontinuity } && playlist.maps.count == 1)
            directory.lint()
        }

        @Test(
            "if a hardware encoder does not open, the start fails as unavailable; with encoderFallback libx264 encodes instead"
        )
        func start() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            await #expect {
                _ = try await RoomHarness.open(Self.pipeline(directory.path)) {
                    $0.encoders = Self.encoders(failingAt: nil)
                }
            } throws: { ($0 as? MediaError)?.code == .unavailable }
            let room = try await RoomHarness.open(Self.pipeline(directory.path, #""encoderFallback": true, "#)) {
                $0.encoders = Self.encoders(failingAt: nil)
            }
            let event = try #require(room.events.all("encoder.fallback").first)
            #expect(event.integer("tick") == nil && event.text("encoder") == "h264_nvenc")
            try await room.goLive(HarnessRooms.first)
            try await room.publish(seconds: 3)
            try await room.end()
            #expect(try directory.playlist("90p.m3u8").maps.count == 1)
        }
    }
}
