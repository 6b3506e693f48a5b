import CLibAV
import MediaTypes

/// The pictures of one decoder or graph, whose objects are used again: in the long run it takes nothing from the heap.
///
/// Of a picture that nobody has any more the planes go back to libav's own pool with the next call, and the object stays. A
/// picture that is out is as immutable as any other.
///
/// Invariant: an object is written only while the pool has the only reference to it, so nobody can get another one.
@safe
struct PicturePool: ~Copyable {
    /// Pictures that are looked after: more than a source, its queues and the encoders' hold at once. Those beyond are
    /// ordinary objects.
    static let limit = 128
    /// Pictures that must have lain idle for ``isOversized()``. One comes and goes with the stages behind; a room that is otherwise
    /// as large as ever grows by one or two at a time.
    private static let mostIdle = 2

    /// Handed out.
    private var out: [Picture] = []
    /// Empty.
    private var spare: [Picture] = []
    /// The fewest that were ``spare`` since ``isOversized()`` was asked.
    private var fewest = 0
    /// What libav writes the next picture to.
    let frame: UnsafeMutablePointer<AVFrame>

    /// - Throws: ``MediaError/Code/outOfMemory``.
    init(place: String) throws(MediaError) {
        guard let frame = unsafe av_frame_alloc() else {
            throw MediaError(.outOfMemory, "no memory for a picture", at: place, fix: "give the room more memory")
        }
        unsafe self.frame = frame
        self.out.reserveCapacity(Self.limit)
        self.spare.reserveCapacity(Self.limit)
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    /// Lets go of the planes of pictures that nobody has any more: before the next ones are asked for.
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

    /// What ``frame`` refers to, as a picture; ``frame`` is empty then.
    ///
    /// - Parameter traits: Where the side data they are read from is gone already.
    /// - Returns: `nil` when there is no memory.
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

    /// Looks how many pictures were not needed since this was asked last; their objects go. libav's own pool holds the planes of as
    /// many: of the most that were ever out at once, as when an encoder was behind.
    ///
    /// - Returns: Whether there are so many that a pool made anew is worth it.
    mutating func isOversized() -> Bool {
        let idle = min(self.fewest, self.spare.count)
        self.spare.removeLast(idle)
        self.fewest = self.spare.count
        return idle >= Self.mostIdle
    }
}
