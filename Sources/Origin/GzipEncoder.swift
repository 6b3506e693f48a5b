/// Playlist text in the gzip format: LZ77 with the fixed Huffman codes, which shrinks playlists to about a sixth.
///
/// Spec: RFC 1952 (gzip), RFC 1951 §3.2.6 (fixed codes).
package struct GzipEncoder {
    /// How many earlier places are looked at for each match: more gains next to nothing on text this regular.
    private static let longestChain = 16
    private static let window = 1 << 15
    private static let hashes = 1 << 13
    private static let shortestMatch = 3
    private static let longestMatch = 258

    private var output: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
    private var bits: UInt64 = 0
    private var bitCount: UInt64 = 0

    private init() {}

    /// `input` as one gzip member. O(*n*).
    package static func encode(_ input: [UInt8]) -> [UInt8] {
        var encoder = GzipEncoder()
        encoder.output.reserveCapacity(input.count / 4 + 64)
        encoder.put(0b011, 3)  // the last block, fixed codes
        encoder.compress(input)
        encoder.symbol(256)
        encoder.put(0, (8 - encoder.bitCount % 8) % 8)
        encoder.little(Self.checksum(input))
        encoder.little(UInt32(truncatingIfNeeded: input.count))
        return encoder.output
    }

    private mutating func compress(_ input: [UInt8]) {
        var heads = [Int32](repeating: -1, count: Self.hashes)
        var previous = [Int32](repeating: -1, count: min(input.count, Self.window))
        func hash(_ at: Int) -> Int {
            let key = UInt32(input[at]) | UInt32(input[at + 1]) << 8 | UInt32(input[at + 2]) << 16
            return Int((key &* 0x9E37_79B1) >> 19)
        }
        func remember(_ at: Int) {
            guard at + Self.shortestMatch <= input.count else { return }
            let slot = hash(at)
            previous[at % Self.window] = heads[slot]
            heads[slot] = Int32(truncatingIfNeeded: at)
        }
        var position = 0
        while position < input.count {
            var best = 0
            var distance = 0
            if position + Self.shortestMatch <= input.count {
                let limit = min(Self.longestMatch, input.count - position)
                var candidate = Int(heads[hash(position)])
                var chain = 0
                while candidate >= 0, position - candidate < Self.window, chain < Self.longestChain {
                    var length = 0
                    while length < limit, input[candidate + length] == input[position + length] { length += 1 }
                    if length > best { (best, distance) = (length, position - candidate) }
                    let older = Int(previous[candidate % Self.window])
                    // A slot that was written again belongs to a later place.
                    guard older < candidate else { break }
                    candidate = older
                    chain += 1
                }
            }
            let taken = best >= Self.shortestMatch ? best : 1
            if best >= Self.shortestMatch {
                self.match(length: best, distance: distance)
            } else {
                self.symbol(Int(input[position]))
            }
            for at in position..<(position + taken) { remember(at) }
            position += taken
        }
    }

    private mutating func match(length: Int, distance: Int) {
        // Both tables: a base, then so many extra bits; the last base not above the value is its code.
        let code = (Self.lengths.lastIndex { $0.base <= length }) ?? 0
        self.symbol(257 + code)
        self.put(UInt64(length - Self.lengths[code].base), UInt64(Self.lengths[code].extra))
        let far = (Self.distances.lastIndex { $0.base <= distance }) ?? 0
        self.reversed(UInt64(far), 5)
        self.put(UInt64(distance - Self.distances[far].base), UInt64(Self.distances[far].extra))
    }

    /// A literal, a length or the end of the block in the fixed code.
    private mutating func symbol(_ symbol: Int) {
        switch symbol {
        case ..<144: self.reversed(UInt64(0x30 + symbol), 8)
        case ..<256: self.reversed(UInt64(0x190 + symbol - 144), 9)
        case ..<280: self.reversed(UInt64(symbol - 256), 7)
        default: self.reversed(UInt64(0xC0 + symbol - 280), 8)
        }
    }

    /// Huffman codes are written from their most significant bit on, everything else from the least.
    private mutating func reversed(_ value: UInt64, _ count: UInt64) {
        var result: UInt64 = 0
        for bit in 0..<count { result |= ((value >> bit) & 1) << (count - 1 - bit) }
        self.put(result, count)
    }

    private mutating func put(_ value: UInt64, _ count: UInt64) {
        self.bits |= value << self.bitCount
        self.bitCount += count
        while self.bitCount >= 8 {
            self.output.append(UInt8(truncatingIfNeeded: self.bits))
            self.bits >>= 8
            self.bitCount -= 8
        }
    }

    private mutating func little(_ value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            self.output.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    // MARK: Tables

    private static let lengths = Self.table(
        first: 3, extras: [0, 0, 0, 0, 0, 0, 0, 0] + Self.runs(1...5, of: 4), last: 258)
    private static let distances = Self.table(first: 1, extras: [0, 0, 0, 0] + Self.runs(1...13, of: 2), last: nil)

    private static func runs(_ extras: ClosedRange<Int>, of count: Int) -> [Int] {
        extras.flatMap { Array(repeating: $0, count: count) }
    }

    /// - Parameter last: A value with a code of its own behind the others.
    private static func table(first: Int, extras: [Int], last: Int?) -> [(base: Int, extra: Int)] {
        var base = first
        var rows: [(base: Int, extra: Int)] = []
        for extra in extras {
            rows.append((base, extra))
            base += 1 << extra
        }
        if let last { rows.append((last, 0)) }
        return rows
    }

    private static let checksums: [UInt32] = (UInt32(0)..<256).map { byte in
        (0..<8).reduce(byte) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    /// CRC-32. Spec: RFC 1952 §8.
    private static func checksum(_ input: [UInt8]) -> UInt32 {
        ~input.reduce(~0) { $0 >> 8 ^ Self.checksums[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }
}
