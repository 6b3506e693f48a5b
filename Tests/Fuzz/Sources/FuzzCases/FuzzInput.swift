import Glibc

/// Reads an input from the front; missing bytes are 0.
struct FuzzInput {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var left: Int { self.bytes.count - self.offset }

    mutating func byte() -> UInt8 {
        guard self.offset < self.bytes.count else { return 0 }
        defer { self.offset += 1 }
        return self.bytes[self.offset]
    }

    mutating func number(_ size: Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<size { value = value << 8 | UInt32(self.byte()) }
        return value
    }

    /// At most `count` bytes.
    mutating func take(_ count: Int) -> [UInt8] {
        let end = self.offset + min(max(0, count), self.left)
        defer { self.offset = end }
        return Array(self.bytes[self.offset..<end])
    }

    mutating func rest() -> [UInt8] { self.take(self.left) }
}

/// Reproducible randomness: SplitMix64.
public struct FuzzRandom: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { self.state = seed &* 0x9E37_79B9_7F4A_7C15 }

    public mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &self) }

    mutating func chance(_ one: Int) -> Bool { self.below(one) == 0 }

    mutating func pick<T>(_ values: [T], or other: T) -> T { values.randomElement(using: &self) ?? other }
}

/// Files of the repository, used as seeds.
public enum FuzzFiles {
    /// The folder `Tests`.
    public static let tests: String = {
        let parts = #filePath.split(separator: "/").dropLast(4)
        return parts.map { "/" + $0 }.joined()
    }()

    /// File names in a folder, sorted; empty if it does not exist.
    public static func names(_ folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// At most 1 MiB of a file; empty if it does not exist.
    public static func bytes(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "rb") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    /// Everything sent by real encoders, including the handshake.
    static func captures() -> [(name: String, bytes: [UInt8])] {
        let folder = self.tests + "/RTMPTests/Fixtures"
        return self.names(folder).filter { $0.hasSuffix(".c2s.bin") }.map { ($0, self.bytes("\(folder)/\($0)")) }
    }
}
