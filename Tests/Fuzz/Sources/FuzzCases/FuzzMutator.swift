/// Mutates inputs for the seeded runs: by their meaning if the case can, else by bytes.
public enum FuzzMutator {
    /// The same number gives the same mutation.
    public static func changed(_ inputs: [[UInt8]], number: UInt64, _ entry: FuzzCase) -> [UInt8] {
        var random = FuzzRandom(seed: number)
        var bytes = random.pick(inputs, or: [])
        for _ in 0..<(1 + random.below(3)) {
            if let mutate = entry.mutate, random.chance(2) {
                bytes = mutate(bytes, random.next())
            } else {
                self.change(&bytes, with: random.pick(inputs, or: []), &random)
            }
        }
        return Array(bytes.prefix(entry.longest))
    }

    private static func change(_ bytes: inout [UInt8], with other: [UInt8], _ random: inout FuzzRandom) {
        let at = random.below(bytes.count + 1)
        let end = min(bytes.count, at + 1 + random.below(24))
        switch random.below(8) {
        case 0: bytes.removeSubrange(at..<end)
        case 1: bytes.insert(contentsOf: bytes[at..<end], at: random.below(bytes.count + 1))
        case 2:
            let from = random.below(other.count)
            bytes.insert(contentsOf: other[from..<min(other.count, from + 1 + random.below(60))], at: at)
        case 3: bytes.removeSubrange(at...)
        case 4: bytes.insert(contentsOf: (0..<(1 + random.below(8))).map { _ in UInt8(random.below(256)) }, at: at)
        default: SessionMutator.flip(&bytes, &random)
        }
    }
}
