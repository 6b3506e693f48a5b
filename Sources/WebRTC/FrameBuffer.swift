import MediaKernels

/// The packets of the frame that a depacketizer is putting together.
///
/// States: closed → open (``open(_:time:)``) → damaged (``damage()``, its bytes are dropped); open or damaged → closed.
/// Memory is bounded by ``mostBytes``.
struct FrameBuffer: Sendable {
    /// Largest frame in bytes.
    static let mostBytes = 8 << 20
    /// Most packets of a frame: 1.2 MB in packets of usual size, ten times a key frame of 1080p at 6 Mbit/s.
    static let mostPackets = 1024
    /// Capacity in bytes that is kept for the next frame. A few large frames should not cost memory from then on.
    private static let keptBytes = 1 << 20

    private(set) var isOpen = false
    private(set) var isDamaged = false
    private(set) var timestamp: UInt32 = 0
    private(set) var time: Int64 = 0
    private(set) var arrival: Int64 = 0
    private(set) var orientation: UInt8?
    private var packets = 0
    var bytes: [UInt8] = []

    /// Whether a frame is open and undamaged.
    var isIntact: Bool { self.isOpen && !self.isDamaged }

    mutating func open(_ packet: OrderedPacket, time: Int64) {
        self.close()
        self.isOpen = true
        self.timestamp = packet.timestamp
        self.time = time
        self.arrival = packet.arrival
    }

    /// Counts a packet of the open frame.
    ///
    /// - Returns: False if the frame has too many.
    mutating func count(_ packet: OrderedPacket) -> Bool {
        self.packets += 1
        self.arrival = max(self.arrival, packet.arrival)
        if let orientation = packet.orientation { self.orientation = orientation }
        return self.packets <= Self.mostPackets
    }

    /// Whether `count` more bytes are within the limit.
    func hasRoom(for count: Int) -> Bool { count <= Self.mostBytes - self.bytes.count }

    /// Drops the bytes. The frame stays open until its end, so that the rest of its packets are recognized.
    mutating func damage() {
        self.isDamaged = true
        self.empty()
    }

    mutating func close() {
        self.isOpen = false
        self.isDamaged = false
        self.orientation = nil
        self.packets = 0
        self.empty()
    }

    func frame(
        _ memory: PacketMemory, isKey: Bool, size: FrameSize? = nil, configuration: [UInt8]? = nil
    ) -> CodedFrame {
        CodedFrame(
            memory: memory, timestamp: self.timestamp, time: self.time, arrival: self.arrival, isKey: isKey,
            orientation: self.orientation, size: size, configuration: configuration)
    }

    private mutating func empty() {
        self.bytes.removeAll(keepingCapacity: self.bytes.capacity <= Self.keptBytes)
    }
}
