package import MediaTypes

/// The last JPEG files of each source, and the requests that wait for new ones. A pure value.
///
/// All requests that wait for stills of one source form one job, whose files show the same frame; requests with the same
/// width share one file.
package struct StillCache<Waiter: Sendable>: Sendable {
    /// Which frame a file shows. Equal ids mean the same frame.
    package enum FrameID: Sendable, Hashable {
        /// A frame that the source's decoder has output, by the program time at which it is due.
        case decoded(Int64)
        /// A key frame as it arrived, by its arrival time on the monotonic clock.
        case coded(Int64)
    }

    package struct File: Sendable {
        package var frame: FrameID
        package var bytes: [UInt8]
        /// When the frame arrived, in nanoseconds of the monotonic clock.
        package var arrival: Int64
        /// Program time at which the frame is shown, in nanoseconds; nil before the program runs.
        package var shown: Int64?
        /// When the file was made, in nanoseconds of the monotonic clock.
        package var made: Int64

        package init(frame: FrameID, bytes: [UInt8], arrival: Int64, shown: Int64? = nil, made: Int64) {
            (self.frame, self.bytes, self.arrival, self.shown, self.made) = (frame, bytes, arrival, shown, made)
        }
    }

    package struct Job: Sendable {
        package var source: SourceID
        /// The waiting requests by width.
        package var waiters: [Int: [Waiter]]
    }

    /// Most requests that wait at a time.
    package static var capacity: Int { 128 }
    /// Most widths of a source whose files are kept. Pages ask for one or two.
    package static var widths: Int { 4 }
    /// Time in nanoseconds for which a file of a decoded frame also answers requests for later decoded frames.
    package static var freshness: Int64 { 200_000_000 }

    private var files: [SourceID: [(width: Int, file: File)]] = [:]
    private var jobs: [SourceID: [Int: [Waiter]]] = [:]
    private var order: [SourceID] = []
    package private(set) var waiting = 0

    package init() {}

    /// The file to answer a request with; nil if a new one must be made. It shows this frame, or, if both are decoded frames,
    /// an earlier one if the file was made less than ``freshness`` ago.
    ///
    /// - Parameter anyAge: Whether the file of an earlier decoded frame may have any age.
    package func file(of source: SourceID, width: Int, frame: FrameID, now: Int64, anyAge: Bool = false) -> File? {
        guard let file = self.files[source]?.first(where: { $0.width == width })?.file else { return nil }
        if file.frame == frame { return file }
        guard case .decoded = file.frame, case .decoded = frame else { return nil }
        return anyAge || now &- file.made < Self.freshness ? file : nil
    }

    /// Adds a request.
    ///
    /// - Returns: False if ``capacity`` requests wait; then the request was not added.
    package mutating func add(_ waiter: Waiter, for source: SourceID, width: Int) -> Bool {
        guard self.waiting < Self.capacity else { return false }
        if self.jobs[source] == nil { self.order.append(source) }
        self.jobs[source, default: [:]][width, default: []].append(waiter)
        self.waiting += 1
        return true
    }

    /// Takes all requests of the source that has waited longest; nil if none waits.
    package mutating func next() -> Job? {
        guard !self.order.isEmpty else { return nil }
        let source = self.order.removeFirst()
        let waiters = self.jobs.removeValue(forKey: source) ?? [:]
        self.waiting -= waiters.values.reduce(0) { $0 + $1.count }
        return Job(source: source, waiters: waiters)
    }

    /// Keeps a file in place of the earlier one of the same width.
    package mutating func keep(_ file: File, of source: SourceID, width: Int) {
        var files = self.files[source] ?? []
        files.removeAll { $0.width == width }
        if files.count >= Self.widths { files.removeFirst() }
        files.append((width, file))
        self.files[source] = files
    }

    /// Removes the files of a source.
    package mutating func forget(_ source: SourceID) { self.files[source] = nil }
}
