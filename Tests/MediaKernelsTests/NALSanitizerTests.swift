import MediaKernels
import TestSupport
import Testing

@Suite("NALSanitizer: conversion of encoders' H.264 payloads to NAL units with four-byte lengths")
struct NALSanitizerTests {
    /// Resulting bytes; nil for malformed input.
    static func sanitized(_ bytes: [UInt8], lengthSize: Int) -> [UInt8]? {
        switch NALSanitizer.sanitize(PacketMemory(bytes), in: 0..<bytes.count, lengthSize: lengthSize) {
        case .unchanged: bytes
        case .rewritten(let payload): payload.memory.bytes
        case .empty: []
        case .malformed: nil
        }
    }

    static func units(_ random: inout TestRandom) -> [[UInt8]] {
        (0..<Int.random(in: 1...5, using: &random)).map { index in
            random.nal(type: [5, 1, 6, 7, 8][index], count: Int.random(in: 2...240, using: &random))
        }
    }

    @Test("an H.264 payload that already has four-byte lengths is not copied")
    func inForm() {
        var random = TestRandom(seed: 1)
        let bytes = AnnexBTests.prefixed([random.nal(type: 6, count: 20), random.nal(type: 5, count: 900)])
        guard
            case .unchanged(let types) = NALSanitizer.sanitize(PacketMemory(bytes), in: 0..<bytes.count, lengthSize: 4)
        else {
            Issue.record("was rewritten")
            return
        }
        #expect(types == [.sei, .idr])
    }

    @Test(
        "lengths of 1 to 4 bytes, empty units, stray start codes and Annex B all become units with four-byte lengths",
        arguments: 0..<200)
    func oneForm(seed: Int) {
        var random = TestRandom(seed: UInt64(seed) + 7)
        let units = Self.units(&random)
        let wanted = AnnexBTests.prefixed(units)
        for lengthSize in 1...4 {
            var dirty: [[UInt8]] = []
            for unit in units {
                if Bool.random(using: &random) { dirty.append([]) }
                dirty.append(
                    (Bool.random(using: &random) ? [0, 0, 0, 1] : Bool.random(using: &random) ? [0, 0, 1] : []) + unit)
            }
            #expect(
                Self.sanitized(AnnexBTests.prefixed(dirty, lengthSize: lengthSize), lengthSize: lengthSize) == wanted)
        }
        var stream: [UInt8] = []
        for unit in units { stream += (Bool.random(using: &random) ? [0, 0, 0, 1] : [0, 0, 1]) + unit }
        // A stream that also is a sequence of valid lengths and units counts as length-prefixed.
        if LengthPrefixedNALsTests.plainUnits(stream, lengthSize: 4) == nil {
            #expect(Self.sanitized(stream, lengthSize: 4) == wanted)
        }
    }

    @Test("an H.264 payload that was sanitized is not changed by sanitizing it again", arguments: 0..<300)
    func idempotent(seed: Int) {
        var random = TestRandom(seed: UInt64(seed) + 99)
        let bytes = random.sparseBytes(Int.random(in: 0...200, using: &random))
        let lengthSize = Int.random(in: 1...4, using: &random)
        guard let result = Self.sanitized(bytes, lengthSize: lengthSize), !result.isEmpty else { return }
        guard case .unchanged = NALSanitizer.sanitize(PacketMemory(result), in: 0..<result.count, lengthSize: 4) else {
            Issue.record("not in form: \(bytes) gave \(result)")
            return
        }
    }

    @Test("a frame of empty NAL units gives an empty payload, and one with wrong lengths is malformed")
    func nothingAndNoise() {
        #expect(Self.sanitized([0, 0, 0, 0, 0, 0, 0, 0], lengthSize: 4) == [])
        #expect(Self.sanitized([], lengthSize: 4) == [])
        #expect(Self.sanitized([9, 9, 9, 9, 9], lengthSize: 4) == nil)
        #expect(Self.sanitized([0, 0, 0, 9, 1], lengthSize: 4) == nil)
    }

    @Test("sanitizing an H.264 payload does not read bytes outside the given range")
    func range() {
        let bytes: [UInt8] = [0x17, 1, 0, 0, 0, 0, 0, 0, 2, 0x65, 0x88, 0xEE]
        guard case .unchanged(let types) = NALSanitizer.sanitize(PacketMemory(bytes), in: 5..<11, lengthSize: 4) else {
            Issue.record("was not found in form")
            return
        }
        #expect(types == .idr)
    }
}
