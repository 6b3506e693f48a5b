import Foundation
import HLSTestKit
import LibAV
import MediaKernels
import MediaTypes
import Testing

@Suite("H.264 and HEVC of files as NAL units with four-byte lengths")
struct NALConversionTests {
    private static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x1E, 9]
    private static let otherSPS: [UInt8] = [0x67, 0x4D, 0x40, 0x1F, 9]
    private static let pps: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
    private static let idr: [UInt8] = [0x65, 1, 2, 3]
    private static let slice: [UInt8] = [0x41, 4, 5]

    private static func annexB(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    private static func prefixed(_ units: [[UInt8]], size: Int = 4) -> [UInt8] {
        units.flatMap { [UInt8](repeating: 0, count: size - 1) + [UInt8(truncatingIfNeeded: $0.count)] + $0 }
    }

    private static func record(_ sps: [UInt8]) throws -> [UInt8] {
        try #require(AVCRecord(sequenceParameterSets: [sps], pictureParameterSets: [Self.pps])).record
    }

    @Test("start codes become lengths, and the parameter sets before the first packet become a configuration record")
    func startCodes() throws {
        var conversion = try #require(
            NALConversion(codec: .h264, configuration: Self.annexB([Self.sps, Self.pps])))
        #expect(try conversion.configuration == Self.record(Self.sps))
        let units = [[9, 0x10], Self.sps, Self.pps, Self.idr]
        #expect(conversion.convert(PacketMemory(Self.annexB(units)), isKey: true)?.bytes == Self.prefixed(units))
        #expect(try conversion.configuration == Self.record(Self.sps))
        #expect(conversion.convert(PacketMemory([1, 2, 3]), isKey: false) == nil, "there is no NAL unit")
    }

    @Test("other parameter sets in a key frame change the configuration; those in another frame do not")
    func change() throws {
        var conversion = try #require(
            NALConversion(codec: .h264, configuration: Self.annexB([Self.sps, Self.pps])))
        let units = [Self.otherSPS, Self.pps, Self.slice]
        #expect(conversion.convert(PacketMemory(Self.annexB(units)), isKey: false)?.bytes == Self.prefixed(units))
        #expect(try conversion.configuration == Self.record(Self.sps))
        #expect(conversion.convert(PacketMemory(Self.annexB(units)), isKey: true)?.bytes == Self.prefixed(units))
        #expect(try conversion.configuration == Self.record(Self.otherSPS))
    }

    @Test("packets before the first parameter sets are left out if the file has no others")
    func withoutConfiguration() throws {
        var conversion = try #require(NALConversion(codec: .h264, configuration: []))
        #expect(conversion.convert(PacketMemory(Self.annexB([Self.slice])), isKey: false) == nil)
        let units = [Self.sps, Self.pps, Self.slice]
        #expect(conversion.convert(PacketMemory(Self.annexB(units)), isKey: false)?.bytes == Self.prefixed(units))
        #expect(try conversion.configuration == Self.record(Self.sps))
    }

    @Test("lengths of one, two and three bytes become four bytes; damaged packets stay as they are", arguments: 1...3)
    func shortLengths(size: Int) throws {
        var record = try Self.record(Self.sps)
        record[4] = 0xFC | UInt8(size - 1)
        var conversion = try #require(NALConversion(codec: .h264, configuration: record))
        #expect(try conversion.configuration == Self.record(Self.sps))
        let packet = Self.prefixed([Self.idr, Self.slice], size: size)
        #expect(
            conversion.convert(PacketMemory(packet), isKey: true)?.bytes == Self.prefixed([Self.idr, Self.slice]))
        let first = size + Self.idr.count
        for count in 1..<packet.count where count != first {
            let damaged = Array(packet.prefix(count))
            #expect(conversion.convert(PacketMemory(damaged), isKey: true)?.bytes == damaged)
        }
    }

    @Test("lengths of four bytes, other codecs and unreadable configurations need no conversion")
    func unchanged() throws {
        #expect(try NALConversion(codec: .h264, configuration: Self.record(Self.sps)) == nil)
        #expect(NALConversion(codec: .h264, configuration: [1, 2, 3]) == nil)
        #expect(NALConversion(codec: .vp9, configuration: []) == nil)
        #expect(NALConversion(codec: .aac, configuration: []) == nil)
    }

    @Test("HEVC with start codes gets lengths and a configuration record")
    func hevc() throws {
        let sps: [UInt8] = [
            0x42, 1, 1, 1, 0x60, 1, 1, 1, 0x90, 1, 1, 1, 1, 1, 0x5D, 0xA0, 0x20, 0x81, 0x07,
        ]
        let sets = [[0x40, 1, 0x0C], sps, [0x44, 1, 0xC0]]
        var conversion = try #require(NALConversion(codec: .hevc, configuration: Self.annexB(sets)))
        let before = conversion.configuration
        #expect(HEVCConfiguration(record: before)?.arrays.flatMap(\.units) == sets)
        let units = sets + [[0x26, 1, 9]]
        #expect(conversion.convert(PacketMemory(Self.annexB(units)), isKey: true)?.bytes == Self.prefixed(units))
        #expect(conversion.configuration == before)
    }

    @Test("the packets of an MPEG-TS file have four-byte lengths, and its parameter sets are a configuration record")
    func transportStream() throws {
        let path = NSTemporaryDirectory() + "\(UUID().uuidString).ts"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let made = try Tool.require("ffmpeg").run([
            "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=10:duration=1", "-c:v", "libx264", "-g", "5",
            "-sc_threshold", "0", "-f", "mpegts", path,
        ])
        try #require(made.code == 0, "\(made.errors)")
        let file = try Demuxer.open(path: path, place: "test")
        let configuration = try #require(file.parameters.first?.configuration)
        #expect(AVCRecord(record: configuration)?.lengthSize == 4)
        var keys: [Bool] = []
        while let packet = file.next() {
            #expect(file.change == nil)
            guard
                case .unchanged(let types) = NALSanitizer.sanitize(packet.memory, in: packet.range, lengthSize: 4)
            else {
                Issue.record("packet \(keys.count) does not consist of NAL units with four-byte lengths")
                continue
            }
            #expect(packet.isKey == types.contains(.idr))
            keys.append(packet.isKey)
        }
        #expect(keys.count == 10 && keys.filter { $0 }.count == 2)
    }
}
