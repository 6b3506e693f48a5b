/// Reads ISO base media boxes independently of the writer: a tree as text, and the fields that tests need.
struct BoxDump {
    static let containers: Set<String> = ["moov", "trak", "mdia", "minf", "dinf", "stbl", "mvex", "moof", "traf"]

    struct Box {
        let type: String
        /// From the box's own size field.
        let range: Range<Int>
        /// After size and type.
        let body: Range<Int>
        let path: String
    }

    let bytes: [UInt8]
    private(set) var boxes: [Box] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        self.walk(0..<bytes.count, path: "")
    }

    private mutating func walk(_ range: Range<Int>, path: String) {
        var position = range.lowerBound
        while position + 8 <= range.upperBound {
            let size = Int(self.u32(position))
            let type = String(decoding: self.bytes[(position + 4)..<(position + 8)], as: UTF8.self)
            let end = position + size
            guard size >= 8, end <= range.upperBound else {
                self.boxes.append(
                    Box(type: "BROKEN", range: position..<position, body: position..<position, path: path))
                return
            }
            let box = Box(type: type, range: position..<end, body: (position + 8)..<end, path: "\(path)/\(type)")
            self.boxes.append(box)
            switch type {
            case _ where Self.containers.contains(type): self.walk(box.body, path: box.path)
            case "stsd": self.walk((box.body.lowerBound + 8)..<end, path: box.path)
            case "avc1": self.walk((box.body.lowerBound + 78)..<end, path: box.path)
            case "mp4a": self.walk((box.body.lowerBound + 28)..<end, path: box.path)
            default: break
            }
            position = end
        }
    }

    func u32(_ offset: Int) -> UInt32 { self.bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
    func u64(_ offset: Int) -> UInt64 { self.bytes[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) } }

    func all(_ type: String) -> [Box] { self.boxes.filter { $0.type == type } }

    /// One line per box: depth, type, size, and the bytes of boxes that are not containers.
    var text: String {
        var lines: [String] = []
        for box in self.boxes {
            let indent = String(repeating: "  ", count: box.path.split(separator: "/").count - 1)
            var line = "\(indent)\(box.type) \(box.range.count)"
            if !Self.containers.contains(box.type), !["mdat", "stsd", "avc1", "mp4a"].contains(box.type) {
                line += " " + self.bytes[box.body].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `tfdt` of every fragment.
    var decodeTimes: [UInt64] { self.all("tfdt").map { self.u64($0.body.lowerBound + 4) } }
    /// `mfhd` of every fragment.
    var sequences: [UInt32] { self.all("mfhd").map { self.u32($0.body.lowerBound + 4) } }

    struct Row: Equatable {
        let duration: UInt32
        let size: UInt32
        let flags: UInt32?
        let offset: Int32
    }

    /// The sample table of every fragment.
    var tables: [[Row]] {
        self.all("trun").map { box in
            let flags = self.u32(box.body.lowerBound) & 0xFFFFFF
            let count = Int(self.u32(box.body.lowerBound + 4))
            var position = box.body.lowerBound + 12
            return (0..<count).map { _ in
                var row: [UInt32] = []
                let columns = flags & 0xC00 == 0xC00 ? 4 : 2
                for _ in 0..<columns {
                    row.append(self.u32(position))
                    position += 4
                }
                return Row(
                    duration: row[0], size: row[1], flags: columns == 4 ? row[2] : nil,
                    offset: columns == 4 ? Int32(bitPattern: row[3]) : 0)
            }
        }
    }
}
