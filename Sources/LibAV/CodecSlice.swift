import CLibAV

/// How long a thread that works in codecs wants to stay on its core.
///
/// The kernel's own slice (3 ms) cuts the coding of one picture (5 to 20 ms) into pieces; each time, the other thread's
/// pictures take the place of this one's in the caches, which costs a room of several encoders 5 % of its CPU time. A
/// longer slice is no privilege: the thread gets the same share, in fewer pieces, and whoever asks for less is let in as
/// soon as it wakes up. Linux 6.12 and later heed it.
package enum CodecSlice {
    /// Nothing is due on the wall clock.
    case offline
    /// About one picture: whatever else of the room waits for a core does so no longer than for its encoders anyway.
    case live

    package init(isOffline: Bool) { self = isOffline ? .offline : .live }

    private var milliseconds: Int32 {
        switch self {
        case .offline: 50
        case .live: 15
        }
    }

    /// Asks for it on behalf of the calling thread.
    package func requestForThisThread() { clibav_request_slice(self.milliseconds) }
}
