import CLibAV

/// The scheduler time slice that a thread requests for codec work.
///
/// The kernel's default slice (3 ms) interrupts the encoding of one frame (5 to 20 ms) several times. Each time,
/// another thread's frames replace this one's in the caches, which costs a room with several encoders 5 % of its CPU
/// time. A longer slice gives no priority: the thread gets the same share in fewer pieces, and a thread that requests a
/// shorter slice is scheduled as soon as it wakes up. Requires Linux 6.12 or later; ignored by older kernels.
package enum SchedulerSlice {
    /// A slice of 50 ms, for work without real-time deadlines.
    case offline
    /// A slice of 15 ms, for live encoding: about the time to encode one frame, so that other threads of the room wait
    /// no longer than they would for the encoders anyway.
    case live

    package init(isOffline: Bool) { self = isOffline ? .offline : .live }

    private var milliseconds: Int32 {
        switch self {
        case .offline: 50
        case .live: 15
        }
    }

    /// Requests the slice for the calling thread.
    package func requestForThisThread() { clibav_request_slice(self.milliseconds) }
}
