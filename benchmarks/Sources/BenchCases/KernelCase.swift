/// One kernel with its input, beside the plain loop that says the same.
public struct KernelCase: Sendable {
    /// Short name; it is the key in `thresholds.json`.
    public let name: String
    /// What one item consists of: `byte`, `float`, `unit` (NAL unit), `message`, `value`, or `line`.
    public let unit: String
    /// Units in one item.
    public let unitsPerItem: Int
    /// Items that callgrind counts: enough to drown what differs between two starts of a process.
    public var itemsToCount: Int
    /// There is a plain loop that says the same; protocol machines have none.
    public var hasReference = true
    /// Bytes of media in one item, where it is counted how often they are copied; else 0.
    public var mediaBytes = 0
    /// Makes the input. Seeded: the same bytes on every run, so that instruction counts can be compared.
    public let prepare: @Sendable () -> KernelWork

    public init(
        name: String, unit: String, unitsPerItem: Int, itemsToCount: Int = 20,
        prepare: @escaping @Sendable () -> KernelWork
    ) {
        self.name = name
        self.unit = unit
        self.unitsPerItem = unitsPerItem
        self.itemsToCount = itemsToCount
        self.prepare = prepare
    }
}

/// A kernel and its reference, ready to run on the same input.
public struct KernelWork {
    /// Does that many items and returns a number that depends on all of them, so that no work can be left out.
    public let kernel: (Int) -> UInt64
    /// The same work by a plain loop.
    public let reference: (Int) -> UInt64
    /// True when one item by the kernel equals one item by the reference. A fast wrong kernel is no result.
    public let agrees: () -> Bool

    /// - Parameter agrees: `nil` compares what one item of each returns.
    public init(
        kernel: @escaping (Int) -> UInt64, reference: @escaping (Int) -> UInt64, agrees: (() -> Bool)? = nil
    ) {
        self.kernel = kernel
        self.reference = reference
        self.agrees = agrees ?? { kernel(1) == reference(1) }
    }

    /// A protocol machine, which no plain loop replaces.
    ///
    /// - Parameters:
    ///   - planted: The same work done worse on purpose, by which the guard shows that it can fail.
    ///   - expected: What one item returns.
    init(machine: @escaping (Int) -> UInt64, planted: ((Int) -> UInt64)? = nil, expected: UInt64) {
        self.kernel = machine
        self.reference = planted ?? machine
        self.agrees = { machine(1) == expected }
    }
}
