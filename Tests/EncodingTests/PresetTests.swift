import HLS
import Encoding
import LibAV
import MediaTypes
import PipelineSpec
import Testing

@Suite("Encoder presets that share parameter sets, so that one can replace the other")
struct PresetTests {
    private static func settings(
        _ preset: VideoEncoding.Preset, profile: String = "high", bFrames: Int? = nil
    ) -> VideoEncoderSettings {
        var settings = VideoEncoderSettings(
            width: 320, height: 180, fps: 30, preset: preset.x264Name, profile: profile, bitrate: 300_000,
            maxBitrate: 330_000, bufferSize: 330_000, bFrames: bFrames ?? preset.defaultBFrames,
            lookaheadFrames: preset.defaultLookahead, threads: 1)
        settings.x264Parameters = preset.x264Parameters
        return settings
    }

    private static func record(_ settings: VideoEncoderSettings) throws -> [UInt8] {
        let encoder = try VideoEncoder.open(settings, place: "test")
        return try #require(AVCConfiguration(extradata: encoder.parameterSets)).record
    }

    /// A moving image, so that every coding tool has decisions to make.
    private static func picture(_ index: Int) throws -> Picture {
        var canvas = try PictureCanvas.open(width: 320, height: 180, fill: .black)
        for rect in 0..<40 {
            let x = (rect * 53 + index * (1 + rect % 5)) % 288, y = (rect * 29 + index * (rect % 3)) % 148
            canvas.fill(
                x: x & ~1, y: y & ~1, width: 32, height: 32,
                CanvasColor(
                    y: UInt8(40 + (rect * 37 + index) % 180), cb: UInt8(60 + rect * 2), cr: UInt8(200 - rect * 2)))
        }
        return canvas.finish()
    }

    @Test(
        "tandem-fast, tandem-faster and tandem-lowLatency have byte-identical configuration records, in the main and high profiles"
    )
    func family() throws {
        for profile in ["main", "high"] {
            let records = try [VideoEncoding.Preset.tandemFast, .tandemFaster, .tandemLowLatency].map {
                try Self.record(Self.settings($0, profile: profile))
            }
            #expect(records[0].count > 20 && Set(records).count == 1, "\(records)")
        }
    }

    @Test("x264's veryfast and superfast have the configuration record of tandem-fast if B-frames are equal")
    func x264() throws {
        let records = try [VideoEncoding.Preset.tandemFast, .veryfast, .superfast].map {
            try Self.record(Self.settings($0, bFrames: 1))
        }
        #expect(Set(records).count == 1)
        // A difference is noticed.
        #expect(try Self.record(Self.settings(.ultrafast, bFrames: 1)) != records[0])
        #expect(try Self.record(Self.settings(.veryfast, bFrames: 0)) != records[0])
    }

    @Test(
        "every preset except ultrafast has a sibling with the same configuration record",
        arguments: ["baseline", "main", "high"])
    func siblings(profile: String) throws {
        #expect(Self.settings(.ultrafast).sibling == nil)
        for preset in VideoEncoding.Preset.allCases where preset != .ultrafast {
            for bFrames in profile == "baseline" ? [0] : [0, 1, 3] {
                var own = Self.settings(preset, profile: profile, bFrames: bFrames)
                // For a rendition that allows passthrough.
                own.parameterSetID = bFrames == 0 ? 31 : 0
                let sibling = try #require(own.sibling)
                #expect(try Self.record(own) == Self.record(sibling), "\(preset) \(profile) \(bFrames)")
            }
        }
    }

    @Test("a sibling encoder continues the other's timestamps, and a decoder shows every frame")
    func replacement() throws {
        for preset in [VideoEncoding.Preset.veryfast, .tandemFast] {
            let own = Self.settings(preset)
            let sibling = try #require(own.sibling)
            var packets: [CodedPacket] = []
            var sets: [UInt8] = []
            for (start, settings) in [(0, own), (32, sibling), (64, own)] {
                let encoder = try VideoEncoder.open(settings, place: "test")
                sets = encoder.parameterSets
                for index in start..<start + 32 {
                    try encoder.encode(Self.picture(index), pts: Int64(index), forceIDR: index == start) {
                        packets.append($0)
                    }
                }
                try encoder.finish { packets.append($0) }
            }
            #expect(packets.count == 96 && packets.filter(\.isKey).count == 3)
            #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.dts < $1.dts })
            #expect(packets.map(\.pts).sorted() == (0..<96).map { Int64($0) * VideoEncoder.ticksPerPicture })
            let record = try #require(AVCConfiguration(extradata: sets)).record
            let decoder = try VideoDecoder.open(CodecParameters(codec: .h264, configuration: record), place: "test")
            var shown: [Int64] = []
            for packet in packets { #expect(decoder.decode(packet) { shown.append($0.pts ?? -1) }) }
            decoder.finish { shown.append($0.pts ?? -1) }
            #expect(shown == (0..<96).map { Int64($0) * VideoEncoder.ticksPerPicture })
        }
    }

    @Test("each tandem preset delays frames by exactly its lookahead, the low-latency ones by at most three")
    func delay() throws {
        for preset in [VideoEncoding.Preset.tandemFast, .tandemFaster, .tandemLowLatency, .tandemRealtime] {
            let encoder = try VideoEncoder.open(Self.settings(preset), place: "test")
            var first: Int?
            for index in 0..<24 {
                try encoder.encode(Self.picture(index), pts: Int64(index), forceIDR: index == 0) { _ in
                    if first == nil { first = index }
                }
            }
            #expect(first == preset.defaultLookahead)
            #expect(!preset.isLowLatency || preset.defaultLookahead <= VideoEncoding.lowLatencyLimit)
        }
    }
}
