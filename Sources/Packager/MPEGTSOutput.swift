import Dispatch
package import MediaTypes
import Synchronization

/// An MPEG-TS output in addition to an HLS output with fMP4 segments. It receives the listing of the HLS output and
/// makes the same segments as MPEG-TS in a directory of its own, on its own thread, so that a slow disk there delays
/// nothing else; in jobs on the thread of the packager.
///
/// Call ``begin()`` before the packager begins, ``run()`` on a thread of its own, and ``finish()`` when no more
/// segments are listed.
package final class MPEGTSOutput: Sendable {
    /// Maximum number of listings that wait for the store; beyond it, the second oldest is dropped and its segments are
    /// lost.
    private static let mostWaiting = 256

    private struct State {
        var waiting: [OutputListing] = []
        /// The last listing, if the end of its playlists could not be written yet.
        var pendingListing: OutputListing?
        /// Whether no more listings follow.
        var isOver = false
        var isFailing = false
        var made: (segments: Int64, bytes: Int64) = (0, 0)
        var lost: Int64 = 0
        var isEndMissing = false
        var failure: MediaError?
    }

    package let outputID: String
    private let packager: HLSPackager
    private let store: any SegmentStore
    private let publication: Mutex<MPEGTSPublication>
    private let objects = Mutex<[String: PublishedObject]>([:])
    private let state = Mutex(State())
    private let work = DispatchSemaphore(value: 0)
    /// Whether segments are made before the packager continues.
    private let waits: Bool
    private let report: @Sendable (MediaError?) -> Void

    /// Makes an MPEG-TS output for an HLS output.
    ///
    /// - Parameters:
    ///   - store: The destination of the MPEG-TS output; no other output uses it.
    ///   - waits: Whether segments are made before the packager continues: for jobs that run faster than real time.
    ///   - report: Called with an error when writing starts to fail, and with `nil` when writing works again.
    package init(
        outputID: String, packager: HLSPackager, store: any SegmentStore, multivariantName: String, waits: Bool,
        report: @escaping @Sendable (MediaError?) -> Void
    ) {
        self.outputID = outputID
        self.packager = packager
        self.store = store
        self.waits = waits
        self.report = report
        self.publication = Mutex(
            MPEGTSPublication(
                settings: packager.settings, tracks: packager.tracks, multivariantName: multivariantName,
                keys: packager.keys))
    }

    /// Prepares the store and subscribes to the packager; call it before the packager begins.
    ///
    /// - Throws: ``MediaError/Code/notCreatable``.
    package func begin() throws(MediaError) {
        try self.store.prepare()
        self.packager.watchListing(isWhole: false) { [weak self] in
            self?.list($0)
            return true
        }
    }

    private func list(_ listing: OutputListing) {
        if self.waits {
            self.take(listing)
            return
        }
        self.state.withLock { state in
            state.waiting.append(listing)
            // The oldest listing is kept: the very first one contains everything listed before.
            if state.waiting.count > Self.mostWaiting { state.waiting.remove(at: 1) }
        }
        self.work.signal()
    }

    /// Makes the new segments of a listing and writes the playlists.
    ///
    /// - Returns: Whether the listing must be processed again, because the end could not be written.
    @discardableResult
    private func take(_ listing: OutputListing) -> Bool {
        let (failures, objects, made, isPending, lost) = self.publication.withLock { publication in
            publication.list(listing, store: self.store, files: self.packager)
            return (
                publication.takeFailures(), publication.objects,
                (segments: publication.made, bytes: publication.madeBytes),
                listing.isEnded && !publication.isEndWritten, publication.lost
            )
        }
        self.objects.withLock { $0 = objects }
        let isNews = self.state.withLock { state in
            state.made = made
            (state.lost, state.isEndMissing) = (lost, isPending)
            state.failure = failures.first ?? state.failure
            defer { state.isFailing = !failures.isEmpty }
            return state.isFailing != !failures.isEmpty
        }
        if isNews { self.report(failures.first) }
        return isPending
    }

    /// Makes segments until ``finish()``. Blocks.
    ///
    /// If the end of the playlists cannot be written, the write is retried every second until it succeeds or the caller
    /// stops the process.
    package func run() {
        while true {
            let isPending = self.state.withLock { $0.pendingListing != nil }
            _ = self.work.wait(timeout: isPending ? .now() + .nanoseconds(Self.endPace) : .distantFuture)
            if self.step() { return }
        }
    }

    /// Nanoseconds between two attempts to write the end of the playlists.
    private static let endPace = 1_000_000_000

    /// Makes the segments listed so far, without waiting for further listings.
    ///
    /// - Returns: Whether the output is finished: no more listings follow, and the end, if any, is written.
    package func step() -> Bool {
        let (listings, isOver) = self.state.withLock { state in
            defer { (state.waiting, state.pendingListing) = ([], nil) }
            return (state.waiting + (state.pendingListing.map { [$0] } ?? []), state.isOver)
        }
        var isPending = false
        for listing in listings where self.take(listing) {
            isPending = true
            self.state.withLock { $0.pendingListing = listing }
        }
        return isOver && !isPending
    }

    /// Ends the input: ``run()`` makes the remaining segments and returns.
    package func finish() {
        self.state.withLock { $0.isOver = true }
        self.work.signal()
    }

    /// Looks up an object that viewers can request now, including encryption keys; `nil` for other names.
    package func object(named name: String) -> PublishedObject? {
        self.objects.withLock { $0[name] } ?? self.packager.keyObject(named: name)
    }

    /// Number of media sequence numbers that are a gap here but not in the HLS output, whether the playlists lack their
    /// end, and the latest failure. Never waits for the store.
    package var loss: (segments: Int64, isEndMissing: Bool, failure: MediaError?) {
        self.state.withLock { ($0.lost, $0.isEndMissing, $0.failure) }
    }

    /// Number of segments made so far, and their bytes.
    package var made: (segments: Int64, bytes: Int64) { self.state.withLock { $0.made } }
}

extension HLSPackager {
    /// Makes this output's playback listener also serve objects of another output, under their own names; call it
    /// before the listener opens.
    package func serve(_ object: @escaping @Sendable (String) -> PublishedObject?) {
        self.beside.withLock { $0.append(object) }
    }
}
