import CLibAV
import MediaTypes

/// The frames of one decoder or graph, whose objects are reused, so that in the long run nothing is allocated.
///
/// When a frame is not referenced any more, its planes return to libav's own pool at the next ``collect()``, and the
/// object is kept. A frame that is in use is as immutable as any other.
///
/// Invariant: an object is written only while the pool has the only reference to it, so no other reference can appear.
@safe
struct PicturePool: ~Copyable {
    /// Number of frames that are tracked: more than a source, its queues and the encoders use at once. Frames beyond
    /// that are ordinary objects.
    static let limit = 128
    /// Number of unused frames from which ``isOversized()`` returns `true`. Fewer are normal: the number of frames that
    /// the following stages hold varies by one.
    private static let mostIdle = 2

    /// Frames that are in use, or not in use any more but not collected yet.
    private var out: [Picture] = []
    /// Frame objects that are empty and can be reused.
    private var spare: [Picture] = []
    /// The minimum size of ``spare`` since the last call of ``isOversized()``.
    private var fewest = 0
    /// The `AVFrame` that libav writes its next frame to.
    let frame: UnsafeMutablePointer<AVFrame>

    /// Creates an empty pool.
    ///
    /// - Throws: ``MediaError/Code/outOfMemory``.
    init(place: String) throws(MediaError) {
        guard let frame = unsafe av_frame_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a frame", at: place, fix: "give the room more memory")
        }
        unsafe self.frame = frame
        self.out.reserveCapacity(Self.limit)
        self.spare.reserveCapacity(Self.limit)
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    /// Releases the planes of frames that are not referenced any more. Called before new frames are requested.
    mutating func collect() {
        var index = 0
        while index < self.out.count {
            guard isKnownUniquelyReferenced(&self.out[index]) else {
                index += 1
                continue
            }
            self.out.swapAt(index, self.out.count - 1)
            if let free = self.out.popLast() {
                free.empty()
                self.spare.append(free)
            }
        }
    }

    /// Moves the content of ``frame`` into a picture; ``frame`` is empty afterwards.
    ///
    /// - Parameter traits: Properties of the frame, if its side data has already been removed; `nil`: they are read
    ///   from the frame.
    /// - Returns: `nil` if there is no memory.
    mutating func picture(traits: PictureTraits? = nil) -> Picture? {
        let picture: Picture
        if let spare = self.spare.popLast() {
            unsafe spare.fill(moving: self.frame, traits: traits)
            picture = spare
        } else {
            guard let raw = unsafe av_frame_alloc() else {
                unsafe av_frame_unref(self.frame)
                return nil
            }
            unsafe av_frame_move_ref(raw, self.frame)
            unsafe picture = Picture(owning: raw, traits: traits)
        }
        self.fewest = min(self.fewest, self.spare.count)
        if self.out.count < Self.limit { self.out.append(picture) }
        return picture
    }

    /// Counts the frame objects that were not needed since the last call, and frees them. The planes stay in libav's
    /// own pool, which keeps as many as were ever in use at once, for example when an encoder was behind.
    ///
    /// - Returns: Whether so many frames were unneeded that replacing libav's pool is worthwhile.
    mutating func isOversized() -> Bool {
        let idle = min(self.fewest, self.spare.count)
        self.spare.removeLast(idle)
        self.fewest = self.spare.count
        return idle >= Self.mostIdle
    }
}
