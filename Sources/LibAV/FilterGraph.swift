import CLibAV
package import MediaTypes

/// A libavfilter graph. With ``run(_:pts:)`` it takes exactly one frame per input and tick, and returns one frame per
/// output at once: its text may then contain only filters that neither buffer nor wait, such as crop, scale, xstack and
/// overlay. ``stream(_:pts:_:)`` is for filters that delay frames.
///
/// Created, used and released by one thread at a time: deliberately not `Sendable`.
@safe
package final class FilterGraph {
    /// An input: its label in the text and the only format it accepts.
    package struct Input: Sendable, Hashable {
        package var label: String
        package var format: PictureFormat

        package init(label: String, format: PictureFormat) {
            self.label = label
            self.format = format
        }
    }

    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private(set) var sources: [UnsafeMutablePointer<AVFilterContext>]
    private(set) var sinks: [UnsafeMutablePointer<AVFilterContext>]
    var pool: PicturePool
    /// The inputs that the graph was built for, in order.
    package let inputs: [Input]
    let place: String
    let ticksPerSecond: Int32
    /// Whether filters of the graph hold frames until later frames arrive; set by the code that wrote the text.
    var holdsPictures = false
    /// Color properties and aspect ratio to set on outputs of this size and pixel format, whatever the filters set;
    /// `nil`: keep the filters' values.
    package var signals: PictureFormat?

    /// Builds a graph.
    ///
    /// - Parameters:
    ///   - text: The graph in libavfilter's syntax. It must contain every input and output label.
    ///   - fps: Ticks per second; the pts of frames is the tick number.
    ///   - fix: What the user should do if libavfilter rejects the text.
    /// - Throws: ``MediaError/Code/rejected`` with libavfilter's reason, ``MediaError/Code/outOfMemory``.
    package static func open(
        _ text: String, inputs: [Input], outputs: [String], fps: Int, place: String,
        fix: String = "report this error with the log"
    ) throws(MediaError) -> FilterGraph {
        let pool = try PicturePool(place: place)
        guard let raw = unsafe avfilter_graph_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a filter graph", at: place, fix: "give the room more memory")
        }
        let graph = unsafe FilterGraph(owning: raw, pool: pool, inputs: inputs, fps: fps, place: place)
        // More threads take longer to set up and cost more CPU time for the same frames.
        unsafe raw.pointee.nb_threads = 1
        try graph.build(text, outputs: outputs, fps: fps, fix: fix)
        return graph
    }

    private init(
        owning graph: UnsafeMutablePointer<AVFilterGraph>, pool: consuming PicturePool, inputs: [Input], fps: Int,
        place: String
    ) {
        unsafe self.graph = graph
        self.pool = pool
        unsafe self.sources = []
        unsafe self.sinks = []
        self.inputs = inputs
        self.ticksPerSecond = Int32(clamping: fps)
        self.place = place
    }

    deinit {
        var graph: UnsafeMutablePointer<AVFilterGraph>? = unsafe self.graph
        unsafe avfilter_graph_free(&graph)
    }

    private func build(_ text: String, outputs: [String], fps: Int, fix: String) throws(MediaError) {
        // In libavfilter's terms, "outputs" are the open ends that feed the text: our sources.
        var feeds: UnsafeMutablePointer<AVFilterInOut>?
        var ends: UnsafeMutablePointer<AVFilterInOut>?
        defer {
            unsafe avfilter_inout_free(&feeds)
            unsafe avfilter_inout_free(&ends)
        }
        for input in self.inputs.reversed() {
            let format = input.format
            let arguments =
                "video_size=\(format.width)x\(format.height):pix_fmt=\(format.pixelFormat):time_base=1/\(fps)"
                + ":pixel_aspect=\(format.sarNumerator)/\(format.sarDenominator):frame_rate=\(fps)/1"
            let context = try unsafe self.make("buffer", name: input.label, arguments: arguments)
            unsafe self.sources.insert(context, at: 0)
            unsafe feeds = try self.link(label: input.label, to: context, before: feeds)
        }
        for output in outputs.reversed() {
            let context = try unsafe self.make("buffersink", name: output, arguments: nil)
            unsafe self.sinks.insert(context, at: 0)
            unsafe ends = try self.link(label: output, to: context, before: ends)
        }
        var status = unsafe avfilter_graph_parse_ptr(self.graph, text, &ends, &feeds, nil)
        if status >= 0 { status = unsafe avfilter_graph_config(self.graph, nil) }
        guard status >= 0 else {
            throw .libav(
                .rejected, "libavfilter rejected the graph \"\(text)\"", status, at: self.place, fix: fix)
        }
    }

    private func make(
        _ filter: String, name: String, arguments: String?
    ) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        var context: UnsafeMutablePointer<AVFilterContext>?
        let status = unsafe avfilter_graph_create_filter(
            &context, avfilter_get_by_name(filter), name, arguments, nil, self.graph)
        guard status >= 0, let made = unsafe context else {
            throw .libav(
                .rejected, "cannot create the \(filter) filter for \(name)", status, at: self.place,
                fix: "check the source's format")
        }
        return unsafe made
    }

    private func link(
        label: String, to context: UnsafeMutablePointer<AVFilterContext>,
        before next: UnsafeMutablePointer<AVFilterInOut>?
    ) throws(MediaError) -> UnsafeMutablePointer<AVFilterInOut> {
        guard let entry = unsafe avfilter_inout_alloc(), let name = unsafe av_strdup(label) else {
            throw MediaError(
                .outOfMemory, "there is no memory for a filter graph", at: self.place, fix: "give the room more memory")
        }
        unsafe entry.pointee.name = name
        unsafe entry.pointee.filter_ctx = context
        unsafe entry.pointee.pad_idx = 0
        unsafe entry.pointee.next = next
        return unsafe entry
    }

    /// Runs one tick.
    ///
    /// - Parameters:
    ///   - frames: One frame per input, in order, each in exactly the format the graph was built for. This is checked
    ///     here, because a `buffersrc` accepts another size without an error, and `crop` then reads out of bounds.
    ///   - pts: The tick.
    /// - Returns: One frame per output, in order.
    /// - Throws: ``MediaError/Code/rejected`` if a format differs or libavfilter fails, ``MediaError/Code/internal``
    ///   for another number of frames.
    package func run(_ frames: [Picture], pts: Int64) throws(MediaError) -> [Picture] {
        var results: [Picture] = []
        try self.run(frames, pts: pts, into: &results)
        return results
    }

    /// Runs one tick like ``run(_:pts:)``, but without allocating: the array keeps its memory, and the objects of
    /// frames that are no longer used are reused.
    ///
    /// - Parameter results: Receives one frame per output, in order; its previous content is removed first.
    package func run(_ frames: [Picture], pts: Int64, into results: inout [Picture]) throws(MediaError) {
        results.removeAll(keepingCapacity: true)
        guard frames.count == self.inputs.count else {
            throw MediaError(
                .internal, "the graph of \(self.inputs.count) inputs got \(frames.count) frames", at: self.place,
                fix: "report this error with the log")
        }
        for index in frames.indices where frames[index].format != self.inputs[index].format {
            throw MediaError(
                .rejected,
                "input \(self.inputs[index].label) got a frame of \(frames[index].format), "
                    + "but was built for \(self.inputs[index].format)",
                at: self.place, fix: "report this error with the log")
        }
        self.pool.collect()
        for (index, picture) in frames.enumerated() {
            let frame = try unsafe picture.makeReference()
            var spare: UnsafeMutablePointer<AVFrame>? = unsafe frame
            defer { unsafe av_frame_free(&spare) }
            unsafe frame.pointee.pts = pts
            let status = unsafe av_buffersrc_add_frame_flags(self.sources[index], frame, 0)
            guard status >= 0 else {
                throw .libav(
                    .rejected, "a frame was rejected", status, at: self.place, fix: "report this error with the log")
            }
        }
        for index in unsafe self.sinks.indices { results.append(try unsafe self.pull(from: self.sinks[index])) }
    }

    /// Whether the graph keeps memory for at least two frames more than were needed since the last call. A graph keeps
    /// memory for as many frames as were ever in use at once; a newly built graph has none.
    package func isOversized() -> Bool { self.pool.isOversized() }

    private func pull(from sink: UnsafeMutablePointer<AVFilterContext>) throws(MediaError) -> Picture {
        let frame = unsafe self.pool.frame
        let status = unsafe av_buffersink_get_frame(sink, frame)
        guard status >= 0 else {
            throw .libav(
                .rejected, "no frame was returned", status, at: self.place, fix: "report this error with the log")
        }
        unsafe frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
        unsafe frame.removeSideData()
        if let signals = self.signals, unsafe frame.isShaped(as: signals) { unsafe frame.sign(as: signals) }
        guard let picture = self.pool.picture() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a frame", at: self.place, fix: "give the room more memory")
        }
        return picture
    }
}
