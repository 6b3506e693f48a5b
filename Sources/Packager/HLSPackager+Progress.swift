/// Progress of an output, to find out what a stalled job waits for.
extension HLSPackager {
    /// The output's directory.
    package var directory: String { self.settings.directory }
    /// Whether a thread that feeds a track is blocked until the store has written earlier media.
    package var isWaitingForStore: Bool { self.intake.withLock { $0.waiting > 0 } }
    /// Time at which the last packet arrived, on the packager's monotonic clock in nanoseconds; 0 before the first
    /// packet.
    package var lastPacketAt: Int64 { self.lastPacket.load(ordering: .acquiring) }
}
