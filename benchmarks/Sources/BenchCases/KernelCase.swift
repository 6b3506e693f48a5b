/// One kernel with its input and the plain loop that computes the same.
public struct KernelCase: Sendable {
    /// Short name; it is the key in `thresholds.json`.
    public let name: String
    /// What one item consists of: `byte`, `float`, `unit` (NAL unit), `message`, `value`, or `line`.
    public let unit: String
    /// Units in one item.
    public let unitsPerItem: Int
    /// Number of items that callgrind counts: enough that differences between two starts of a process do not matter.
    public var itemsToCount: Int
    /// Whether there is a plain loop that computes the same; protocol state machines have none.
    public var hasReference = true
    /// Media bytes in one item, if their copies are counted; otherwise 0.
    public var mediaBytes = 0
    /// Creates the input with a fixed seed: the same bytes in every run, so that instruction counts can be compared.
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
    /// Processes that many items and returns a number that depends on all of them, so that the compiler cannot remove work.
    public let kernel: (Int) -> UInt64
    /// The same work with a plain loop.
    public let reference: (Int) -> UInt64
    /// Whether the kernel's result for one item equals the reference's.
    public let agrees: () -> Bool

    /// - Parameter agrees: `nil`: compares the return values for one item.
    public init(
        kernel: @escaping (Int) -> UInt64, reference: @escaping (Int) -> UInt64, agrees: (() -> Bool)? = nil
    ) {
        self.kernel = kernel
        self.reference = reference
        self.agrees = agrees ?? { kernel(1) == reference(1) }
    }

    /// A case for a protocol state machine, without a plain loop.
    ///
    /// - Parameters:
    ///   - planted: A deliberately slower variant, used to test the guard.
    ///   - expected: Expected return value for one item.
    init(machine: @escaping (Int) -> UInt64, planted: ((Int) -> UInt64)? = nil, expected: UInt64) {
        self.kernel = machine
        self.reference = planted ?? machine
        self.agrees = { machine(1) == expected }
    }
}
