import Foundation
import HLS
import HLSTestKit
import MediaKernels
import MediaTypes
import TestSupport
import Testing

@Suite("MPEG-2 transport stream: ISO/IEC 13818-1 §2.4")
struct MPEGTSMuxerTests {
    /// The packets of a stream, parsed by the standard.
    struct Reading {
        struct Packet {
            let pid: Int
            let begins: Bool
            let counter: Int
            let clock: Int64?
            let isRandomAccess: Bool
            let isDiscontinuous: Bool
            let payload: [UInt8]
        }

        var packets: [Packet] = []

        init(_ bytes: [UInt8]) throws {
            #expect(bytes.count.isMultiple(of: 188))
            for start in stride(from: 0, to: bytes.count, by: 188) {
                let packet = Array(bytes[start..<(start + 188)])
                try #require(packet[0] == 0x47)
                let control = packet[3] >> 4 & 3
                try #require(control != 0)
                var position = 4
                var clock: Int64?
                var flags: UInt8 = 0
                if control & 2 != 0 {
                    let length = Int(packet[4])
                    try #require(length <= (control & 1 != 0 ? 182 : 183))
                    if length > 0 { flags = packet[5] }
                    if flags & 0x10 != 0 {
                        var base: Int64 = 0
                        for byte in packet[6..<10] { base = base << 8 | Int64(byte) }
                        clock = base << 1 | Int64(packet[10] >> 7)
                        #expect(packet[10] & 0x7E == 0x7E && packet[11] == 0)
                    }
                    position += 1 + length
                }
                self.packets.append(
                    Packet(
                        pid: Int(packet[1] & 0x1F) << 8 | Int(packet[2]), begins: packet[1] & 0x40 != 0,
                        counter: Int(packet[3] & 0x0F), clock: clock, isRandomAccess: flags & 0x40 != 0,
                        isDiscontinuous: flags & 0x80 != 0,
                        payload: control & 1 != 0 ? Array(packet[position...]) : []))
            }
        }

        /// PES packets: timestamps and payload.
        func streams(_ pid: Int) throws -> [(id: UInt8, pts: Int64, dts: Int64, payload: [UInt8])] {
            var whole: [[UInt8]] = []
            for packet in self.packets where packet.pid == pid && !packet.payload.isEmpty {
                if packet.begins { whole.append(packet.payload) } else { whole[whole.count - 1] += packet.payload }
            }
            return try whole.map { bytes in
                try #require(Array(bytes[0..<3]) == [0, 0, 1])
                let length = Int(bytes[4]) << 8 | Int(bytes[5])
                #expect(length == 0 && bytes[3] == 0xE0 || length == bytes.count - 6)
                func time(_ at: Int) -> Int64 {
                    var time = Int64(bytes[at] >> 1 & 7)
                    time = time << 8 | Int64(bytes[at + 1])
                    time = time << 7 | Int64(bytes[at + 2] >> 1)
                    time = time << 8 | Int64(bytes[at + 3])
                    return time << 7 | Int64(bytes[at + 4] >> 1)
                }
                let hasDTS = bytes[7] & 0x40 != 0
                #expect(bytes[9] & 1 == 1 && bytes[11] & 1 == 1 && bytes[13] & 1 == 1)
                return (bytes[3], time(9), hasDTS ? time(14) : time(9), Array(bytes[(9 + Int(bytes[8]))...]))
            }
        }
    }

    /// High profile, level 3.1.
    private static let parameterSets: [UInt8] =
        [0, 0, 0, 1] + hex("6764001facd9405005bbff0003000410000003001000000303c0f1831960")
        + [0, 0, 0, 1] + hex("68ebe3cb22c0")

    /// With AAC-LC, 48 kHz, stereo.
    private static func parameters(hasMetadata: Bool = false, hasVideo: Bool = true) -> MPEGTSMuxer.Parameters {
        MPEGTSMuxer.Parameters(
            video: hasVideo ? AVCConfiguration(extradata: Self.parameterSets) : nil,
            audio: AudioSpecificConfig(record: [0x11, 0x90]), hasMetadata: hasMetadata)
    }

    private static func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    /// `seconds` of video frames of random sizes, audio frames and an event.
    private static func units(
        from start: Int64, fps: Int64 = 30, seconds: Int64 = 2, _ random: inout TestRandom
    ) -> [StreamUnit] {
        var units: [StreamUnit] = []
        for frame in 0..<(seconds * fps) {
            let isKey: Bool = frame % fps == 0
            let sizes: ClosedRange<Int> = isKey ? 2_000...40_000 : 2...900
            let size: Int = Int.random(in: sizes, using: &random)
            var nal: [UInt8] = [0, 0, UInt8(size >> 8), UInt8(size & 255), isKey ? 0x65 : 0x41]
            for _ in 1..<size { nal.append(UInt8.random(in: 1...255, using: &random)) }
            let time: Int64 = start + frame * 90_000 / fps
            units.append(StreamUnit(.picture(isKey: isKey), nal, pts: time + 3_000, dts: time))
        }
        for frame in 0..<(seconds * 48_000 / 1_024) {
            let size: Int = Int.random(in: 6...700, using: &random)
            let time: Int64 = start + frame * 1_024 * 90 / 48
            units.append(StreamUnit(.audio, [UInt8](repeating: UInt8(frame & 255), count: size), pts: time))
        }
        units.append(StreamUnit(.metadata, ID3Tag.text("t", "x"), pts: start + 45_000))
        return units
    }

    /// A video frame of one NAL unit as MPEG-TS has it: access unit delimiter, parameter sets at a key frame, start code.
    private static func annexB(_ unit: StreamUnit) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 1, 9, 0xF0]
        if case .picture(isKey: true) = unit.content { bytes += Self.parameterSets }
        bytes += [0, 0, 0, 1]
        bytes += unit.bytes.dropFirst(4)
        return bytes
    }

    /// An AAC frame with the ADTS header of AAC-LC, 48 kHz, stereo.
    private static func adts(_ unit: StreamUnit) -> [UInt8] {
        let length: Int = unit.bytes.count + 7
        let (high, low): (UInt8, UInt8) = (UInt8(length >> 3 & 255), UInt8(length & 7) << 5)
        let header: [UInt8] = [0xFF, 0xF1, 0x4C, 0x80 | UInt8(length >> 11), high, low | 0x1F, 0xFC]
        return header + unit.bytes
    }

    @Test(
        "MPEG-TS segments start with valid tables, continuity counters continue, and all units are read back with times and bytes"
    )
    func wholeStream() throws {
        var random = TestRandom(state: 5)
        var muxer = MPEGTSMuxer()
        let parameters = Self.parameters(hasMetadata: true)
        var counters: [Int: Int] = [:]
        var lastClock: Int64?
        for number in Int64(0)..<8 {
            let units: [StreamUnit] = Self.units(from: number * 180_000, &random)
            let reading: Reading = try Reading(muxer.segment(units, parameters: parameters))
            #expect(reading.packets[0].pid == 0 && reading.packets[1].pid == 0x1000)
            for table in reading.packets.prefix(2) {
                let length: Int = Int(table.payload[2] & 0x0F) << 8 | Int(table.payload[3])
                let section: [UInt8] = Array(table.payload[1..<(4 + length)])
                // Over a section with its checksum the result is 0.
                #expect(Self.checksum(section) == 0)
            }
            for packet in reading.packets where !packet.payload.isEmpty {
                let expected: Int = counters[packet.pid].map { ($0 + 1) & 15 } ?? 0
                #expect(packet.counter == expected)
                counters[packet.pid] = packet.counter
            }
            for clock in reading.packets.compactMap(\.clock) {
                let step: Int64 = clock - (lastClock ?? clock)
                #expect(step >= 0 && step <= 9_000)
                lastClock = clock
            }
            let videoUnits = try reading.streams(0x100)
            let sources: [StreamUnit] = units.filter { if case .picture = $0.content { true } else { false } }
            #expect(videoUnits.count == sources.count)
            for (picture, source) in zip(videoUnits, sources) {
                #expect(picture.pts == source.pts + 900_000)
                #expect(picture.dts == source.dts + 900_000)
                let isSame = picture.payload == Self.annexB(source)
                #expect(isSame, "the frame at \(source.pts)")
            }
            let audio: [UInt8] = try reading.streams(0x101).flatMap(\.payload)
            let frames: [StreamUnit] = units.filter { if case .audio = $0.content { true } else { false } }
            let isSame = audio == frames.flatMap { Self.adts($0) }
            #expect(isSame, "all audio frames, in order")
            let told = try reading.streams(0x102)
            #expect(told.count == 1 && told.first?.id == 0xBD)
            #expect(told.first?.payload == ID3Tag.text("t", "x"))
            let entry = reading.packets.first { $0.pid == 0x100 }
            #expect(entry?.isRandomAccess == true && entry?.begins == true && entry?.clock != nil)
        }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        // Bit by bit, as in the annex.
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            for bit in (0..<8).reversed() {
                let feedback = (value >> 31) ^ UInt32(byte >> UInt8(bit) & 1)
                value = value << 1 ^ (feedback == 1 ? 0x04C1_1DB7 : 0)
            }
        }
        return value
    }

    @Test("MPEG-TS timestamps wrap at 33 bits; slow video and audio-only streams have a PCR at least every 100 ms")
    func wrapAndClocks() throws {
        var random = TestRandom(state: 9)
        var muxer = MPEGTSMuxer()
        let parameters = Self.parameters()
        let start = (Int64(1) << 33) - 900_000 - 90_000
        let whole: Reading = try Reading(muxer.segment(Self.units(from: start, &random), parameters: parameters))
        let times: [Int64] = try whole.streams(0x100).map(\.dts)
        let latest: Int64 = times.max() ?? 0
        let earliest: Int64 = times.min() ?? Int64.max
        #expect(latest > 8_589_900_000 && earliest < 200_000)
        var slow = MPEGTSMuxer()
        for fps in [Int64(1), 5, 10] {
            let units: [StreamUnit] = Self.units(from: 0, fps: fps, &random)
            let reading: Reading = try Reading(slow.segment(units, parameters: parameters, isDiscontinuous: true))
            try Self.expectClocks(reading, atLeast: 15)
            let first = reading.packets.first { $0.clock != nil }
            #expect(first?.isDiscontinuous == true)
        }
        var audio = MPEGTSMuxer()
        let units: [StreamUnit] = Self.units(from: 0, &random)
        let alone: Reading = try Reading(audio.segment(units, parameters: Self.parameters(hasVideo: false)))
        #expect(!alone.packets.contains { $0.pid == 0x100 })
        #expect(alone.packets.filter { $0.clock != nil }.allSatisfy { $0.pid == 0x101 })
        try Self.expectClocks(alone, atLeast: 20)
    }

    private static func expectClocks(_ reading: Reading, atLeast count: Int) throws {
        let clocks: [Int64] = reading.packets.compactMap(\.clock)
        #expect(clocks.count >= count)
        for (one, next) in zip(clocks, clocks.dropFirst()) {
            let step: Int64 = next - one
            #expect(step >= 0 && step <= 9_000)
        }
    }

    @Test(
        "after a time jump each elementary stream begins with the discontinuity indicator, and a PCR precedes the first unit"
    )
    func discontinuity() throws {
        var random = TestRandom(state: 3)
        var muxer = MPEGTSMuxer()
        let parameters = Self.parameters(hasMetadata: true)
        // Audio first.
        let units: [StreamUnit] = Self.units(from: 90_000, &random) + [StreamUnit(.audio, [1, 2, 3], pts: 80_000)]
        for isDiscontinuous in [false, true, false] {
            let reading: Reading = try Reading(
                muxer.segment(units, parameters: parameters, isDiscontinuous: isDiscontinuous))
            for pid in [0x100, 0x101, 0x102] {
                let marks: [Bool] = reading.packets.filter { $0.pid == pid }.map(\.isDiscontinuous)
                #expect(marks.first == isDiscontinuous && !marks.dropFirst().contains(true), "\(pid)")
            }
            guard isDiscontinuous else { continue }
            let clock: Int = try #require(reading.packets.firstIndex { $0.clock != nil })
            let media: Int = try #require(reading.packets.firstIndex { $0.pid == 0x101 })
            #expect(clock < media && reading.packets[clock].clock == 80_000 - 63_000 + 900_000)
        }
    }

    @Test("if the reorder depth grows, decode timestamps still rise and the PCR does not go back")
    func reordering() throws {
        var random = TestRandom(state: 4)
        var muxer = MPEGTSMuxer()
        let parameters = Self.parameters()
        var last: (dts: Int64, clock: Int64) = (0, 0)
        for (number, reorder) in [(Int64(0), Int64(0)), (1, 2), (2, 4), (3, 4)] {
            let units: [StreamUnit] = Self.units(from: 180_000 * number, &random).map { unit in
                guard case .picture = unit.content else { return unit }
                return StreamUnit(unit.content, unit.bytes, pts: unit.dts, dts: unit.dts - reorder * 3_000)
            }
            let reading: Reading = try Reading(muxer.segment(units, parameters: parameters))
            for picture in try reading.streams(0x100) {
                #expect(picture.dts > last.dts && picture.dts <= picture.pts)
                last.dts = picture.dts
            }
            for clock in reading.packets.compactMap(\.clock) {
                #expect(clock >= last.clock)
                last.clock = clock
            }
        }
    }

    @Test(
        "after a gap, audio starts a new PES packet with its own timestamp; metadata too long for one PES packet is dropped"
    )
    func holes() throws {
        var muxer = MPEGTSMuxer()
        let times: [Int64] = [0, 1_920, 5_760, 7_680, 9_600, 11_520, 13_440]
        let audio: [StreamUnit] = times.map { StreamUnit(.audio, [1, 2, 3], pts: $0) }
        let long = StreamUnit(.metadata, [UInt8](repeating: 1, count: 65_528), pts: 0)
        let fits = StreamUnit(.metadata, [UInt8](repeating: 2, count: 65_527), pts: 1)
        let bytes: [UInt8] = muxer.segment(
            audio + [long, fits], parameters: Self.parameters(hasMetadata: true, hasVideo: false))
        let reading: Reading = try Reading(bytes)
        #expect(try reading.streams(0x101).map { $0.pts - 900_000 } == [0, 5_760, 13_440])
        let told = try reading.streams(0x102)
        #expect(told.count == 1 && told.first?.payload.count == 65_527)
    }

    @Test("ffmpeg decodes real video and audio, remuxed from fMP4 segments, without errors and with every video frame")
    func decoded() throws {
        let (ffmpeg, ffprobe) = (try Tool.require("ffmpeg"), try Tool.require("ffprobe"))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let grid = try Make.grid()
        let video = try EncodedTrack.encode(
            .video, source: "testsrc=size=320x180:rate=30:duration=6.4",
            encoder: [
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "32",
                "-sc_threshold", "0",
                "-flags", "+cgop",
            ], in: folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
        let audio = try EncodedTrack.encode(
            .audio, source: "sine=frequency=440:sample_rate=48000:duration=6.4",
            encoder: ["-c:a", "aac", "-ac", "2", "-b:a", "64k"], in: folder, ffmpeg: ffmpeg, ffprobe: ffprobe)
        var tracks: [[FinishedSegment]] = []
        for (kind, track) in [(TrackKind.video, video), (.audio, audio)] {
            var segmenter = TrackSegmenter(kind: kind, grid: grid, firstTick: 0)
            var segments: [FinishedSegment] = []
            for packet in track.packets { segments += segmenter.append(packet).segments }
            segments += segmenter.finish().segments
            tracks.append(segments)
        }
        let parameters = MPEGTSMuxer.Parameters(
            video: AVCConfiguration(extradata: video.parameters.configuration),
            audio: AudioSpecificConfig(record: audio.parameters.configuration), hasMetadata: false)
        var muxer = MPEGTSMuxer()
        var stream: [UInt8] = []
        var reorder: Int64 = 0
        for (videoSegment, audioSegment) in zip(tracks[0], tracks[1]) {
            let bytes = videoSegment.pieces.flatMap(\.bytes)
            reorder = max(reorder, MPEGTSReading.reorder(of: bytes))
            #expect(reorder >= 1_000, "frames are reordered")
            let shown = MPEGTSReading.units(bytes, kind: .video, timescale: 30_000, reorder: reorder)
            let heard = MPEGTSReading.units(
                audioSegment.pieces.flatMap(\.bytes), kind: .audio, timescale: 48_000)
            let units: [StreamUnit] = try #require(shown) + #require(heard)
            stream += muxer.segment(units, parameters: parameters)
        }
        _ = try Reading(stream)
        let file = folder.appendingPathComponent("all.ts").path
        try Data(stream).write(to: URL(fileURLWithPath: file))
        let decoding = try ffmpeg.run([
            "-v", "warning", "-xerror", "-i", file, "-map", "0:v", "-map", "0:a", "-f", "null", "-",
        ])
        #expect(decoding.code == 0 && decoding.errors.isEmpty, "\(decoding.errors.prefix(500))")
        let counted = try ffprobe.run([
            "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames,profile", "-of",
            "csv=p=0", file,
        ])
        #expect(counted.output.contains("h264") && counted.output.contains("192"), "\(counted.output)")
        #expect(counted.output.contains("aac") && counted.errors.isEmpty, "\(counted.errors.prefix(300))")
    }
}
