import MediaTypes

extension MediaDigest {
    /// An event message (`emsg`). Spec: ISO/IEC 23009-1 §5.10.3.3, ISO/IEC 23000-19 §7.4.5.
    struct Event: Sendable, Hashable {
        /// Scheme and value of the event; ids are unique within a scheme and value.
        let scheme: String
        let id: UInt32
        /// Time of the event in nanoseconds on the media's timeline.
        let time: Int64
        let message: ByteDigest

        var name: String { "event \(self.id) of \(self.scheme)" }
    }

    /// Maximum number of events that are kept per segment.
    static let mostEvents = 256

    mutating func readEvents(_ reader: BoxReader, _ boxes: [BoxReader.Box]) {
        let lastFragment = boxes.lastIndex { $0.type == "moof" } ?? -1
        for (index, box) in boxes.enumerated() where box.type == "emsg" && self.events.count < Self.mostEvents {
            guard let event = Self.event(reader, box) else {
                self.fault(
                    .eventBroken, "an emsg of \(box.range.count) bytes cannot be read, or does not have version 1")
                continue
            }
            if index > lastFragment { self.fault(.eventBroken, "\(event.name) comes after the last moof") }
            if self.events.contains(where: { $0.scheme == event.scheme && $0.id == event.id }) {
                self.fault(.eventRepeated, "\(event.name) is given twice")
            }
            self.events.append(event)
        }
    }

    private static func event(_ reader: BoxReader, _ box: BoxReader.Box) -> Event? {
        let start = box.body.lowerBound
        guard reader.u8(start) == 1, let timescale = reader.u32(start + 4), timescale > 0,
            let time = reader.u64(start + 8), time < 1 << 60, let id = reader.u32(start + 20),
            start + 24 <= box.body.upperBound
        else { return nil }
        var position = start + 24
        var texts: [String] = []
        while texts.count < 2 {
            guard let end = reader.bytes[position..<box.body.upperBound].firstIndex(of: 0) else { return nil }
            texts.append(String(decoding: reader.bytes[position..<end], as: UTF8.self))
            position = end + 1
        }
        guard !texts[0].isEmpty else { return nil }
        let (whole, rest) = Int64(time).quotientAndRemainder(dividingBy: Int64(timescale))
        return Event(
            scheme: texts[1].isEmpty ? texts[0] : "\(texts[0]) \(texts[1])", id: id,
            time: whole &* 1_000_000_000 &+ (rest &* 1_000_000_000) / Int64(timescale),
            message: ByteDigest(Array(reader.bytes[position..<box.body.upperBound])))
    }
}
