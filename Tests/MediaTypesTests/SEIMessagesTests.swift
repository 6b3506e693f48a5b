import MediaKernels
import MediaTypes
import TestSupport
import Testing

@Suite("SEI messages, read in place: ITU-T H.264 §7.3.2.3, §7.4.1.1, §D.2.8")
struct SEIMessagesTests {
    private struct Found: Hashable {
        let type: Int
        let payload: [UInt8]
    }

    /// An access unit with these NAL units, with four-byte lengths.
    private static func memory(_ units: [[UInt8]]) -> PacketMemory {
        PacketMemory(
            units.flatMap { unit in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: unit.count >> $0) } + unit
            })
    }

    /// An SEI NAL unit with these messages, with emulation prevention bytes.
    private static func unit(_ messages: [UInt8]) -> [UInt8] {
        var unit: [UInt8] = [6]
        var zeros = 0
        for byte in messages + [0x80] {
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }

    private static func read(_ units: [[UInt8]], endsAtPicture: Bool = false) -> [Found] {
        let memory = Self.memory(units)
        return SEIMessages(memory, in: 0..<memory.count, endsAtPicture: endsAtPicture).map { message in
            var payload = message.payload
            var bytes: [UInt8] = []
            while let byte = payload.next() { bytes.append(byte) }
            return Found(type: message.type, payload: bytes)
        }
    }

    /// The result of a reader that copies and unescapes the unit first.
    private static func readPlainly(_ unit: [UInt8]) -> [Found] {
        let begin = unit.prefix(SEIMessages.unitLimit).dropFirst()
        var rest = SequenceParameterSet.removingEmulationPrevention(begin)[...]
        func number() -> Int? {
            var number = 0
            while let byte = rest.popFirst() {
                number += Int(byte)
                if byte != 0xFF { return number }
            }
            return nil
        }
        var found: [Found] = []
        while found.count < SEIMessages.messageLimit {
            guard let type = number(), let size = number(), size <= rest.count else { return found }
            found.append(Found(type: type, payload: Array(rest.prefix(size))))
            rest = rest.dropFirst(size)
        }
        return found
    }

    @Test(
        "SEI messages read in place equal those read from an unescaped copy, for random, noisy and truncated units",
        arguments: 0..<300)
    func inPlace(seed: Int) {
        var random = TestRandom(state: UInt64(seed))
        let noise = (0..<Int.random(in: 0...600, using: &random)).map { _ -> UInt8 in
            let common: [UInt8] = [0, 0, 0, 1, 2, 3, 3, 5, 6, 255]
            return common.randomElement(using: &random) ?? 0
        }
        var messages: [UInt8] = []
        var count = 0
        for _ in 0..<Int.random(in: 0...18, using: &random) {
            let size = Int.random(in: 0...(seed.isMultiple(of: 3) ? 700 : 20), using: &random)
            messages.append(UInt8.random(in: 0...254, using: &random))
            messages += [UInt8](repeating: 255, count: size / 255) + [UInt8(size % 255)]
            messages += (0..<size).map { _ in UInt8.random(in: 0...4, using: &random) }
            count += 1
        }
        let unit = Self.unit(messages)
        let found = Self.read([unit])
        #expect(found == Self.readPlainly(unit))
        if unit.count <= SEIMessages.unitLimit { #expect(found.count == min(count, 16)) }
        #expect(Self.read([[6] + noise]) == Self.readPlainly([6] + noise))
        let cut = Array(unit.prefix(Int.random(in: 1...unit.count, using: &random)))
        #expect(Self.read([cut]) == Self.readPlainly(cut))
    }

    @Test("SEI messages of all NAL units are given in order; those after a slice are left out if requested")
    func order() {
        let units: [[UInt8]] = [
            [0x09, 0x10], Self.unit([1, 1, 7, 5, 0]), [0x67, 1], Self.unit([6, 1, 8]), [0x41, 9], Self.unit([4, 1, 2]),
        ]
        #expect(Self.read(units).map(\.type) == [1, 5, 6, 4])
        #expect(Self.read(units, endsAtPicture: true).map(\.type) == [1, 5, 6])
        #expect(Self.read(units).map(\.payload) == [[7], [], [8], [2]])
    }

    @Test("at most 16 messages per SEI unit are read, and none beyond 4,096 bytes; the next unit is read in both cases")
    func bounds() {
        let empty = Self.unit((0..<20).flatMap { _ in [9, 0] as [UInt8] })
        #expect(Self.read([empty, Self.unit([8, 0])]).map(\.type) == [Int](repeating: 9, count: 16) + [8])
        let long = [5] + [UInt8](repeating: 255, count: 16) + [0] + [UInt8](repeating: 1, count: 16 * 255)
        #expect(Self.read([Self.unit(long), Self.unit([8, 0])]).map(\.type) == [8])
    }

    @Test("a wrong NAL unit length, or a range beyond the memory, ends reading of SEI messages without a trap")
    func damage() {
        let whole = Self.memory([Self.unit([1, 1, 7])])
        let damaged: [[UInt8]] = [
            [0, 0, 0, 0] + whole.bytes, [0, 0, 0, 99, 6, 1, 1, 7, 0x80], [0xFF, 0xFF, 0xFF, 0xFF, 6, 1, 1, 7],
            [0, 0, 0], [],
        ]
        for bytes in damaged {
            let memory = PacketMemory(bytes)
            #expect(SEIMessages(memory, in: 0..<bytes.count).map(\.type).isEmpty)
        }
        // Nothing is read beyond the memory.
        let cut = PacketMemory([0, 0, 3, 0x84, 6, 1, 4, 1])
        #expect(SEIMessages(cut, in: 0..<1000).map(\.type).isEmpty)
        #expect(SEIMessages(whole, in: 0..<1000).map(\.type) == [1])
    }

    @Test("the bit reader of SEI payloads skips emulation prevention bytes, and returns nil beyond the payload")
    func bits() {
        var payload = NALPayloadReader(PacketMemory([9, 0, 0, 3, 1, 0x90, 0xFF]), in: 1..<6)
        let (zeros, three) = (payload.bits(23), payload.bits(3))
        #expect(zeros == 0 && three == 0b110)
        let (first, second) = (payload.flag(), payload.flag())
        #expect(first == false && second == true)
        let (tooMany, none, last, end) = (payload.bits(33), payload.bits(0), payload.bits(4), payload.flag())
        #expect(tooMany == nil && none == 0 && last == 0 && end == nil)
    }

    @Test("a recovery point counts as immediate if it is the first before the slice and its recovery_frame_cnt is 0")
    func recoveryPoints() {
        let slice: [UInt8] = [0x41, 9]
        let atOnce: [UInt8] = [6, 1, 0xC4]
        let later: [UInt8] = [6, 2, 0x26, 0x40]
        let cases: [([[UInt8]], Bool)] = [
            ([Self.unit(atOnce), slice], true), ([Self.unit(later), slice], false),
            ([[0x09, 0x10], Self.unit([1, 2, 0, 0]), Self.unit(atOnce), slice], true),
            // After a message with emulation prevention bytes, and after an empty one.
            ([Self.unit([5, 6, 0, 0, 0, 0, 1, 0] + atOnce), slice], true),
            ([Self.unit([6, 0] + atOnce), slice], true),
            // The first one counts, and messages after the slice belong to another frame.
            ([Self.unit(later + atOnce), slice], false), ([slice, Self.unit(atOnce)], false),
            // A truncated one is ignored.
            ([[6, 6, 2, 0xC4], slice], false), ([slice], false), ([], false),
        ]
        for (units, isAtOnce) in cases {
            let memory = Self.memory(units)
            #expect(RecoveryPoint.isAtOnce(memory, in: 0..<memory.count) == isAtOnce, "\(units)")
        }
    }
}
