extension SourceItem {
    /// Memory overhead per item in addition to its payload, in bytes: its entry in a queue that grows by doubling, its
    /// object, and the smallest memory block.
    public static let overhead = 512

    /// Bytes of memory that the item occupies: the whole block that contains its payload, even if the packet uses only
    /// a part of it.
    public var cost: Int {
        switch self {
        case .configuration(let parameters): parameters.configuration.count + Self.overhead
        case .packet(let packet): packet.memory.blockSize + Self.overhead
        case .end: Self.overhead
        }
    }
}
