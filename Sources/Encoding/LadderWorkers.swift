import LibAV
import MediaTypes
import Threading

/// The thread that scales each canvas to the sizes of all renditions.
struct ScaleWorker {
    let renditions: [EncodedRendition]
    let settings: EncodingStage.Settings
    let output: EncodingStage.Output
    let control: EncoderControl

    func run(
        _ canvases: BoundedQueue<EncodingStage.TimedFrame>, _ queues: [BoundedQueue<EncodingStage.TimedFrame>],
        _ startup: StartupResult
    ) {
        defer { for queue in queues { queue.close() } }
        // A few graphs at most: one for each canvas size, and for each color signaling: a canvas that is only the
        // background is signaled, one that comes directly from a source may not be.
        var graphs: [Key: FilterGraph] = [:]
        let tables = RenditionSchedule(self.renditions)
        var input: [Picture] = []
        // A repeated canvas has already been scaled.
        var made: [[Int]: (canvas: Picture, frames: [Picture])] = [:]
        var passingBefore: Int?
        var sleep = self.settings.sleepTicks.map { RenditionSleep(segmentTicks: $0) }
        var memoryLook = PoolCheckTimer(every: self.settings.fps * 60)
        if self.settings.isOffline { SchedulerSlice.offline.requestForThisThread() }
        startup.report(.success(nil))
        var turn = WorkTurn(self.settings.limiter, rank: WorkRank.scaling)
        defer { turn.end() }
        while let canvas = turn.take(from: canvases) {
            do throws(MediaError) {
                let pass = canvas.step?.pass
                if let pass, queues.indices.contains(pass.track) { turn.put(canvas, into: queues[pass.track]) }
                let passing = pass?.isLast == true ? nil : pass?.track
                if passing != passingBefore {
                    // The scaled frames of before passthrough began or ended are outdated and must not be held.
                    made.removeAll()
                    passingBefore = passing
                }
                var takers = tables.takers(of: canvas.tick, passing: passing)
                if self.carryOut(&sleep, at: canvas, queues, &turn) {
                    // The held frames of the renditions that are scaled now may be from before the change.
                    made.removeAll()
                }
                if let asleep = sleep?.asleep, !asleep.isEmpty {
                    takers.removeAll { asleep.contains($0) }
                    if asleep.count == self.renditions.count { self.control.passed(canvas.tick) }
                }
                guard !takers.isEmpty else { continue }
                if let made = made[takers],
                    made.canvas === canvas.picture
                        || made.canvas.format == canvas.picture.format
                            && takers.allSatisfy({ self.control.holds(canvas.tick, track: $0) })
                {
                    Self.hand(made.frames, to: takers, canvas, queues, &turn)
                    continue
                }
                let key = Key(format: canvas.picture.format, takers: takers)
                let graph: FilterGraph
                if let open = graphs[key] {
                    graph = open
                } else {
                    if graphs.count >= 8 { graphs.removeAll() }
                    graph = try self.open(for: key)
                    graphs[key] = graph
                }
                input.removeAll(keepingCapacity: true)
                input.append(canvas.picture)
                var frames = made.removeValue(forKey: takers)?.frames ?? []
                try graph.run(input, pts: canvas.tick, into: &frames)
                made[takers] = (canvas.picture, frames)
                Self.hand(frames, to: takers, canvas, queues, &turn)
                if memoryLook.isDue() {
                    // An oversized graph would keep the memory of a temporary backlog; it is opened anew for the next
                    // canvas.
                    graphs = graphs.filter { !$0.value.isOversized() }
                }
            } catch {
                self.output.failed(error)
                // No canvases are taken any more; an offline program must not wait for queue space.
                canvases.close()
                return
            }
        }
    }

    /// Puts renditions to sleep and wakes them, if this is due at a canvas.
    ///
    /// - Returns: Whether anything has changed.
    private func carryOut(
        _ sleep: inout RenditionSleep?, at canvas: EncodingStage.TimedFrame,
        _ queues: [BoundedQueue<EncodingStage.TimedFrame>], _ turn: inout WorkTurn
    ) -> Bool {
        guard
            let changes = sleep?.step(
                canvas.tick, beginsSegment: canvas.step?.beginsSegment, wanted: self.control.restingTracks,
                settled: self.control.sleepingTracks),
            !changes.isEmpty
        else { return false }
        // Before the last encoder sleeps, or an earlier time when all slept would count as the encoders' lag.
        self.control.passed(canvas.tick)
        for change in changes {
            switch change {
            case .sleep(let track) where queues.indices.contains(track):
                turn.put(
                    EncodingStage.TimedFrame(picture: canvas.picture, tick: canvas.tick, isSleep: true),
                    into: queues[track]
                )
            case .wake(let track):
                self.control.woke(track, at: canvas.tick)
                self.output.woke(track, canvas.tick)
            case .sleep: break
            }
        }
        return true
    }

    private static func hand(
        _ frames: [Picture], to takers: [Int], _ canvas: EncodingStage.TimedFrame,
        _ queues: [BoundedQueue<EncodingStage.TimedFrame>], _ turn: inout WorkTurn
    ) {
        let step = canvas.step.map { TickPlan(gop: $0.gop) }
        for (index, picture) in zip(takers, frames) {
            turn.put(EncodingStage.TimedFrame(picture: picture, tick: canvas.tick, step: step), into: queues[index])
        }
    }

    /// Key of a graph: renditions at half the frame rate are scaled only at every second tick.
    private struct Key: Hashable {
        var format: PictureFormat
        /// Indices of the renditions that have a frame, in order.
        var takers: [Int]
    }

    private func open(for key: Key) throws(MediaError) -> FilterGraph {
        let format = key.format
        let text = LadderGraph(
            sizes: key.takers.map { self.renditions[$0] }.map { $0.size(ofCanvas: format, declared: self.settings) },
            width: format.width,
            height: format.height)
        return try FilterGraph.open(
            text.text, inputs: [FilterGraph.Input(label: LadderGraph.input, format: format)], outputs: text.outputs,
            fps: self.settings.fps, place: "scale")
    }
}

/// The thread that encodes one rendition.
struct RenditionWorker {
    let track: Int
    let rendition: EncodedRendition
    let settings: EncodingStage.Settings
    let output: EncodingStage.Output
    let control: EncoderControl

    func run(_ queue: BoundedQueue<EncodingStage.TimedFrame>, _ startup: StartupResult) {
        defer { self.output.finished(self.track) }
        SchedulerSlice(isOffline: self.settings.isOffline).requestForThisThread()
        var encoder: RenditionEncoder
        do {
            encoder = try RenditionEncoder.open(
                self.rendition, by: self.settings.encoders, partFrames: self.settings.partFrames,
                stride: self.settings.isOffline ? nil : self.control.stride(self.track),
                changed: { self.fellBack($0) })
        } catch {
            startup.report(.failure(error))
            return
        }
        let first = encoder.parameters
        if let fallback = encoder.startFallback { self.control.note(fallback, track: self.track) }
        startup.report(.success(encoder.opened))
        var last: Picture?
        var isPassing = false
        var isAsleep = false
        /// The initialization of the passthrough stream, which contains the encoder's parameter sets too.
        var initialization: CodecParameters?
        let (width, height, fps) = (
            self.rendition.settings.width, self.rendition.settings.height, self.rendition.settings.fps
        )
        var turn = WorkTurn(self.settings.limiter, rank: WorkRank.encoding(pixels: width &* height &* fps))
        defer { turn.end() }
        do {
            while var timed = turn.take(from: queue) {
                if timed.isSleep {
                    try encoder.finish { self.output.packet(self.track, $0) }
                    isAsleep = true
                    last = nil
                    self.output.slept(self.track, timed.tick)
                    self.control.fellAsleep(self.track)
                    continue
                }
                if let pass = timed.step?.pass {
                    if let stream = pass.stream {
                        // The frames inside the encoder belong before the passthrough.
                        if !isPassing { try encoder.finish { self.output.packet(self.track, $0) } }
                        isPassing = true
                        initialization = stream.initialization
                        self.output.configuration(self.track, Self.change(to: stream, at: timed.tick))
                    }
                    self.control.entered(timed.tick, track: self.track)
                    self.output.entered(self.track, timed.tick)
                    for packet in pass.packets { self.output.packet(self.track, packet) }
                    last = nil
                    continue
                }
                if let last, self.control.drops(timed.tick), last.format == timed.picture.format {
                    try self.giveUp(&encoder, showing: last)
                    if self.control.holds(timed.tick, track: self.track) { timed.picture = last }
                }
                // Offline no frame is held; do not spend its memory.
                if !self.settings.isOffline { last = timed.picture }
                let format = timed.picture.format
                if isAsleep {
                    isAsleep = false
                    try self.wake(&encoder, at: timed, first)
                } else if isPassing || format.width != encoder.settings.width
                    || format.height != encoder.settings.height
                {
                    if !isPassing { try encoder.finish { self.output.packet(self.track, $0) } }
                    try self.reopen(&encoder, at: timed, after: isPassing, initialization: initialization, first)
                    isPassing = false
                }
                try self.encode(timed, &encoder)
            }
            if !isPassing, !isAsleep { try encoder.finish { self.output.packet(self.track, $0) } }
        } catch {
            self.output.failed(error)
            // Drain the queue, or the scaling thread would wait for this one forever.
            queue.close()
            while queue.take() != nil {}
        }
    }
}

extension RenditionWorker {
    /// Reports that libx264 encodes the rendition from now on.
    private func fellBack(_ change: RenditionEncoder.Change) {
        self.control.note(change.fallback, track: self.track)
        if let reconfiguration = change.reconfiguration { self.output.configuration(self.track, reconfiguration) }
        self.output.fellBack(self.track, change.fallback)
    }

    private static func change(to stream: TickPlan.Stream, at tick: Int64) -> EncodingStage.Reconfiguration {
        EncodingStage.Reconfiguration(
            parameters: stream.parameters, initialization: stream.initialization, width: stream.width,
            height: stream.height, tick: tick, isPassed: true)
    }

    private func encode(_ timed: EncodingStage.TimedFrame, _ encoder: inout RenditionEncoder) throws(MediaError) {
        // The GOP grid is the room's: an IDR frame at every multiple of the GOP length, or at the next frame if that
        // tick was lost.
        let opening = self.settings.opening?.gop(ofFrame: timed.tick)
        let gop = timed.step?.gop ?? opening?.number ?? timed.tick / Int64(self.settings.gopFrames)
        self.control.entered(timed.tick, track: self.track)
        self.output.entered(self.track, timed.tick)
        if encoder.begins(gop), let rates = self.control.rates(self.track) {
            try encoder.exchange(rates) { self.output.packet(self.track, $0) }
        }
        if encoder.begins(gop) || encoder.isUnused, self.control.wantsSibling(self.track) != encoder.isCheap {
            let isDone = try encoder.exchange { self.output.packet(self.track, $0) }
            self.note(encoder, isDone)
        }
        let isAsked = self.control.takeKeyframeRequest(self.track)
        // A cut can begin a GOP at any tick.
        let first = timed.step == nil ? opening?.first ?? gop * Int64(self.settings.gopFrames) : nil
        try encoder.encode(timed.picture, tick: timed.tick, gop: gop, first: first, isKey: isAsked) {
            self.output.packet(self.track, $0)
        }
    }

    /// Switches to the sibling (the cheaper encoder) at once if that is requested: while a backlog is dropped, the
    /// exchange need not wait for the next IDR frame of the GOP grid, nor for the frames inside the encoder.
    private func giveUp(_ encoder: inout RenditionEncoder, showing held: Picture) throws(MediaError) {
        guard !encoder.isCheap, self.control.wantsSibling(self.track) else { return }
        let isDone = try encoder.giveUp(showing: held, keepsMotion: self.control.isMotionKept) {
            self.output.packet(self.track, $0)
        }
        self.note(encoder, isDone)
    }

    private func note(_ encoder: RenditionEncoder, _ isDone: Bool) {
        if isDone {
            self.control.note(self.track, isCheap: encoder.isCheap)
        } else {
            self.control.refuse(self.track)
        }
    }

    /// Opens a new encoder for a rendition that wakes. Its parameter sets are those from before, unless the canvas has
    /// another size, or libx264 replaces a hardware encoder.
    private func wake(
        _ encoder: inout RenditionEncoder, at timed: EncodingStage.TimedFrame, _ first: CodecParameters
    ) throws(MediaError) {
        let format = timed.picture.format
        let isSame = format.width == encoder.settings.width && format.height == encoder.settings.height
        guard isSame else {
            return try self.reopen(&encoder, at: timed, after: false, initialization: nil, first)
        }
        let (before, initialization) = (encoder.parameters, encoder.initialization)
        try encoder.reopen(format, rates: self.control.rates(self.track), tick: timed.tick)
        self.control.note(self.track, isCheap: false)
        // libx264 may have replaced a hardware encoder that did not open again.
        guard encoder.parameters != before else { return }
        self.output.configuration(
            self.track,
            EncodingStage.Reconfiguration(
                parameters: encoder.parameters, initialization: initialization, width: format.width,
                height: format.height, tick: timed.tick))
    }

    private func reopen(
        _ encoder: inout RenditionEncoder, at timed: EncodingStage.TimedFrame, after wasPassing: Bool,
        initialization: CodecParameters?, _ first: CodecParameters
    ) throws(MediaError) {
        try encoder.reopen(timed.picture.format, rates: self.control.rates(self.track), tick: timed.tick)
        self.control.note(self.track, isCheap: false)
        self.output.configuration(
            self.track,
            EncodingStage.Reconfiguration(
                parameters: encoder.parameters,
                // With another canvas size or level, the parameter sets differ from those in the initialization.
                initialization: encoder.initialization ?? (encoder.parameters == first ? initialization : nil),
                width: encoder.settings.width,
                height: encoder.settings.height,
                tick: timed.tick, isPassed: wasPassing ? false : nil))
    }
}

/// The thread that encodes the audio at one bit rate.
struct AudioWorker {
    let track: Int
    /// Bit rate of the AAC stream in bits per second.
    let bitrate: Int
    let settings: EncodingStage.Settings
    let output: EncodingStage.Output

    func run(_ queue: BoundedQueue<EncodingStage.AudioBlock>, _ startup: StartupResult) {
        defer { self.output.finished(self.track) }
        if self.settings.isOffline { SchedulerSlice.offline.requestForThisThread() }
        let encoder: any BlockEncoder
        do {
            encoder = try self.settings.encoders.audio(self.settings.sampleRate, self.bitrate, "encode[audio]")
        } catch {
            startup.report(.failure(error))
            return
        }
        startup.report(
            .success(OpenedEncoder(parameters: CodecParameters(codec: .aac, configuration: encoder.configuration))))
        var expected: Int64?
        var first: Int64?
        do {
            while let block = queue.take() {
                // Replace a lost block by silence: AAC frames must follow each other without a gap.
                while let next = expected, next < block.position {
                    let silence = [Float](repeating: 0, count: block.samples.count)
                    try encoder.encode(silence[...], pts: next) { self.hand($0, from: first) }
                    expected = next + Int64(AudioEncoder.frameLength)
                }
                if first == nil { first = block.position }
                try encoder.encode(block.samples[...], pts: block.position) { self.hand($0, from: first) }
                expected = block.position + Int64(AudioEncoder.frameLength)
            }
            try encoder.finish { self.hand($0, from: first) }
        } catch {
            self.output.failed(error)
            queue.close()
            while queue.take() != nil {}
        }
    }

    /// Outputs a packet, except the encoder's priming packet, which lies before the first sample, so that playback
    /// starts with the first sample.
    private func hand(_ packet: CodedPacket, from first: Int64?) {
        guard let first, packet.pts >= first else { return }
        self.output.packet(self.track, packet)
    }
}
