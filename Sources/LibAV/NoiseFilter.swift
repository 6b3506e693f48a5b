import CLibAV
import MediaKernels
package import MediaTypes

/// libavfilter's `arnndn`, which suppresses noise in interleaved stereo of 48 kHz with a recurrent neural network. Created, used
/// and released on one thread.
@safe
package final class NoiseFilter {
    /// The filter's name in libavfilter.
    package static let name = "arnndn"
    /// Number of pairs by which the output is late: output pair *n* is input pair *n* − `delay`, filtered. The filter works in
    /// steps of this length, each on a window of two steps.
    package static let delay = 480
    /// Largest number of pairs that are filtered at once.
    private static let mostPairs = 1 << 16

    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let source: UnsafeMutablePointer<AVFilterContext>
    private let sink: UnsafeMutablePointer<AVFilterContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let place: String
    private var pts: Int64 = 0

    /// Opens the filter.
    ///
    /// - Parameters:
    ///   - model: Path of the model file, which the caller must have checked with ``NoiseModel``.
    ///   - place: Names the stage in errors and logs.
    /// - Throws: ``MediaError/Code/unavailable`` if FFmpeg has no `arnndn`, ``MediaError/Code/rejected`` if the file cannot
    ///   be read or is no model, ``MediaError/Code/outOfMemory``.
    package static func open(model path: String, place: String) throws(MediaError) -> NoiseFilter {
        guard unsafe avfilter_get_by_name(self.name) != nil else {
            throw MediaError(
                .unavailable, "this FFmpeg has no filter \(self.name)", at: place,
                fix: "install an FFmpeg that has it (Debian's does), or write \"noiseSuppression\": \"fft\"")
        }
        let graph = try GraphBuilder.open(place: place)
        do throws(MediaError) {
            let source = try unsafe graph.add("abuffer", "sample_rate=48000:sample_fmt=fltp:channel_layout=stereo")
            let filter = try unsafe graph.add(model: path)
            let sink = try unsafe graph.add("abuffersink", nil)
            try unsafe graph.join([source, filter, sink])
            guard let frame = unsafe av_frame_alloc() else { throw GraphBuilder.noMemory(place) }
            return unsafe NoiseFilter(graph.raw, source, sink, frame, place: place)
        } catch {
            graph.free()
            throw error
        }
    }

    private init(
        _ graph: UnsafeMutablePointer<AVFilterGraph>, _ source: UnsafeMutablePointer<AVFilterContext>,
        _ sink: UnsafeMutablePointer<AVFilterContext>, _ frame: UnsafeMutablePointer<AVFrame>, place: String
    ) {
        unsafe (self.graph, self.source, self.sink, self.frame) = (graph, source, sink, frame)
        self.place = place
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
        var graph: UnsafeMutablePointer<AVFilterGraph>? = unsafe self.graph
        unsafe avfilter_graph_free(&graph)
    }

    /// Filters the next samples, and appends those that are ready to `output`, in order.
    ///
    /// - Parameter samples: Interleaved stereo.
    /// - Throws: ``MediaError/Code/rejected`` if libavfilter fails, ``MediaError/Code/outOfMemory``. The filter cannot be used
    ///   any more.
    package func process(_ samples: [Float], into output: inout [Float]) throws(MediaError) {
        let pairs = samples.count / 2
        for first in stride(from: 0, to: pairs, by: Self.mostPairs) {
            try self.filter(samples, first, min(Self.mostPairs, pairs - first), into: &output)
        }
    }

    /// Filters `pairs` pairs from pair number `first` on.
    private func filter(
        _ samples: [Float], _ first: Int, _ pairs: Int, into output: inout [Float]
    ) throws(MediaError) {
        try self.fill(samples, first, pairs)
        let status = unsafe av_buffersrc_add_frame_flags(self.source, self.frame, 0)
        guard status >= 0 else {
            unsafe av_frame_unref(self.frame)
            throw self.failure(status)
        }
        while true {
            let status = unsafe av_buffersink_get_frame(self.sink, self.frame)
            if status == CLIBAV_ERROR_AGAIN { return }
            guard status >= 0 else { throw self.failure(status) }
            self.append(to: &output)
            unsafe av_frame_unref(self.frame)
        }
    }

    private func failure(_ status: Int32) -> MediaError {
        .libav(
            .rejected, "the noise filter failed", status, at: self.place,
            fix: "write \"noiseSuppression\": \"off\", and report this error with the log")
    }

    /// Makes ``frame`` a new frame with `pairs` pairs from pair number `first` on, one plane per channel.
    private func fill(_ samples: [Float], _ first: Int, _ pairs: Int) throws(MediaError) {
        unsafe self.frame.pointee.nb_samples = Int32(pairs)
        unsafe self.frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe self.frame.pointee.sample_rate = 48_000
        unsafe av_channel_layout_default(&self.frame.pointee.ch_layout, 2)
        unsafe self.frame.pointee.pts = self.pts
        self.pts &+= Int64(pairs)
        guard unsafe av_frame_get_buffer(self.frame, 0) >= 0, let planes = unsafe self.frame.pointee.extended_data,
            let left = unsafe planes[0], let right = unsafe planes[1]
        else {
            unsafe av_frame_unref(self.frame)
            throw GraphBuilder.noMemory(self.place)
        }
        unsafe left.withMemoryRebound(to: Float.self, capacity: pairs) { left in
            unsafe right.withMemoryRebound(to: Float.self, capacity: pairs) { right in
                // Both planes have `pairs` samples.
                for pair in 0..<pairs {
                    unsafe left[pair] = samples[(first &+ pair) &* 2]
                    unsafe right[pair] = samples[(first &+ pair) &* 2 &+ 1]
                }
            }
        }
    }

    /// Appends the samples of ``frame`` to `output`. A frame in another format than the graph's is left out.
    private func append(to output: inout [Float]) {
        let pairs = Int(unsafe self.frame.pointee.nb_samples)
        guard pairs > 0, unsafe self.frame.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue,
            unsafe self.frame.pointee.ch_layout.nb_channels == 2, let planes = unsafe self.frame.pointee.extended_data,
            let left = unsafe planes[0], let right = unsafe planes[1]
        else { return }
        let first = output.count
        output.append(contentsOf: repeatElement(0, count: pairs * 2))
        unsafe left.withMemoryRebound(to: Float.self, capacity: pairs) { left in
            unsafe right.withMemoryRebound(to: Float.self, capacity: pairs) { right in
                for pair in 0..<pairs {
                    output[first &+ pair &* 2] = unsafe left[pair]
                    output[first &+ pair &* 2 &+ 1] = unsafe right[pair]
                }
            }
        }
    }
}

/// Builds the chain of filters of a ``NoiseFilter``.
@safe
private struct GraphBuilder {
    let raw: UnsafeMutablePointer<AVFilterGraph>
    let place: String

    static func open(place: String) throws(MediaError) -> GraphBuilder {
        guard let raw = unsafe avfilter_graph_alloc() else { throw self.noMemory(place) }
        // More threads take longer to set up and cost more CPU time.
        unsafe raw.pointee.nb_threads = 1
        return unsafe GraphBuilder(raw: raw, place: place)
    }

    func free() {
        var graph: UnsafeMutablePointer<AVFilterGraph>? = unsafe self.raw
        unsafe avfilter_graph_free(&graph)
    }

    static func noMemory(_ place: String) -> MediaError {
        MediaError(
            .outOfMemory, "there is no memory for a noise filter", at: place, fix: "give the room more memory")
    }

    func add(_ filter: String, _ arguments: String?) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        var context: UnsafeMutablePointer<AVFilterContext>?
        let status = unsafe avfilter_graph_create_filter(
            &context, avfilter_get_by_name(filter), filter, arguments, nil, self.raw)
        guard status >= 0, let made = unsafe context else {
            throw .libav(
                .rejected, "cannot create the \(filter) filter", status, at: self.place,
                fix: "report this error with the log")
        }
        return unsafe made
    }

    /// Adds the noise filter. The path is set as an option, so that it needs no escaping.
    func add(model path: String) throws(MediaError) -> UnsafeMutablePointer<AVFilterContext> {
        guard let filter = unsafe avfilter_get_by_name(NoiseFilter.name),
            let made = unsafe avfilter_graph_alloc_filter(self.raw, filter, NoiseFilter.name)
        else { throw Self.noMemory(self.place) }
        unsafe av_opt_set(made, "model", path, CLIBAV_SEARCH_CHILDREN)
        let status = unsafe avfilter_init_str(made, nil)
        guard status >= 0 else {
            throw .libav(
                .rejected, "the file \(path) is missing or is not a model that arnndn reads", status, at: self.place,
                fix: "check the path; the file must be a text that begins with \"rnnoise-nu model file version 1\"")
        }
        return unsafe made
    }

    func join(_ filters: [UnsafeMutablePointer<AVFilterContext>]) throws(MediaError) {
        var status: Int32 = 0
        for index in unsafe filters.indices.dropFirst() where status >= 0 {
            unsafe status = avfilter_link(filters[index - 1], 0, filters[index], 0)
        }
        if status >= 0 { status = unsafe avfilter_graph_config(self.raw, nil) }
        guard status >= 0 else {
            throw .libav(
                .rejected, "libavfilter rejected the noise filter", status, at: self.place,
                fix: "report this error with the log")
        }
    }
}
