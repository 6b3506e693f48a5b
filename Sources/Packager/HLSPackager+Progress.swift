/// Progress of a job, to find out what it waits for.
extension HLSPackager {
    /// The output's directory.
    package var directory: String { self.settings.directory }
    /// Whether a track's thread is blocked until the store has taken earlier media.
    package var isWaitingForStore: Bool { self.intake.withLock { $0.waiting > 0 } }
    /// When the last packet came, on the packager's clock in nanoseconds; 0 before the first.
    package var lastPacketAt: Int64 { self.lastPacket.load(ordering: .acquiring) }
}
