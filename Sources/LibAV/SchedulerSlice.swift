import CLibAV

/// The scheduler time slice that a thread requests for codec work.
///
/// The kernel's default slice (3 ms) may interrupt the encoding of one frame several times. Each time, another thread's
/// frames replace this one's in the caches. A longer slice gives no priority: the thread gets the same share in fewer
/// pieces. Requires Linux 6.12 or later; ignored by older kernels.
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
