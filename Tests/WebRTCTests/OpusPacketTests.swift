import Testing
import WebRTC

@Suite("Opus packets: RFC 6716 §3")
struct OpusPacketTests {
    @Test(
        "an Opus packet's duration follows from its configuration number and frames (table 2; tested without 3 and 24 to 27)",
        arguments: [
            (0...2, [480, 960, 1920, 2880]), (4...7, [480, 960, 1920, 2880]), (8...11, [480, 960, 1920, 2880]),
            (12...13, [480, 960]), (14...15, [480, 960]), (16...19, [120, 240, 480, 960]),
            (20...23, [120, 240, 480, 960]),
            (28...31, [120, 240, 480, 960]),
        ] as [(ClosedRange<UInt8>, [Int])])
    func durations(configurations: ClosedRange<UInt8>, expected: [Int]) {
        for (configuration, samples) in zip(configurations, expected) {
            #expect(OpusPacket([configuration << 3, 1][...])?.duration == samples)
            #expect(OpusPacket([configuration << 3 | 1, 1, 2][...])?.duration == samples * 2)
        }
    }

    @Test("a captured Opus packet of Chromium with stereo=1 has 20 ms, stereo and one frame")
    func captured() {
        let packet = OpusPacket([0xFC, 0xFF, 0xFE][...])
        #expect(packet?.duration == 960 && packet?.isStereo == true && packet?.frames == 1)
        #expect(OpusPacket([0x78, 0xFF, 0xFE][...])?.isStereo == false)
        // Silence (DTX) is a packet without audio bytes.
        #expect(OpusPacket([0x78][...])?.duration == 960)
    }

    @Test(
        "the number of frames in an Opus packet is read",
        arguments: [
            // Two of different sizes, with lengths of one and two bytes.
            ([0xFA, 1, 9, 9], 2), ([0xFA, 252, 0] + [UInt8](repeating: 9, count: 253), 2),
            // Code 3: constant and variable sizes, with padding of one and two bytes.
            ([0xFB, 3, 1, 2, 3], 3), ([0xFB, 0x43, 2, 1, 2, 3, 0, 0], 3), ([0xFB, 0x83, 1, 1, 7, 8, 9], 3),
            ([0xFB, 0xC2, 255, 1, 1, 7, 8] + [UInt8](repeating: 0, count: 255), 2),
            ([0x83, 48] + [UInt8](repeating: 1, count: 48), 48),
        ] as [([UInt8], Int)])
    func several(packet: [UInt8], frames: Int) {
        #expect(OpusPacket(packet[...])?.frames == frames)
    }

    @Test(
        "Opus packets with contradictory lengths, frame counts or durations are refused",
        arguments: [
            [], [0xF9, 1, 2, 3], [0xFA], [0xFA, 252], [0xFA, 3, 1, 2], [0xFB], [0xFB, 0], [0xFB, 2, 1, 2, 3],
            // 49 frames; more than 120 ms.
            [0x83, 49] + [UInt8](repeating: 1, count: 49), [0xFB, 7] + [UInt8](repeating: 1, count: 7),
            [0x1B, 3, 1, 1, 1],
            // Padding and lengths beyond the end.
            [0xFB, 0x41, 2, 1], [0xFB, 0x41], [0xFB, 0x41, 255], [0xFB, 0x82, 3, 1, 1], [0xFB, 0x83, 1],
            // A frame of more than 1,275 bytes.
            [0xF8] + [UInt8](repeating: 1, count: 1276), [0xFB, 0x81] + [UInt8](repeating: 1, count: 1276),
        ] as [[UInt8]])
    func contradictions(packet: [UInt8]) {
        #expect(OpusPacket(packet[...]) == nil)
    }

    @Test("an Opus packet in an array slice is read from the slice's beginning")
    func slice() {
        #expect(OpusPacket(([0, 0, 0xFC, 1] as [UInt8])[2...])?.isStereo == true)
    }
}
