import HLS
package import Encoding
package import LibAV
package import MediaTypes
package import Packager
package import PipelineSpec
package import Program
import Synchronization

/// Passes the packets of the sources to a ``PassthroughGate`` at every tick, and carries out its decisions. Used on the
/// program thread, except where stated.
package final class PassthroughSwitch: Sendable {
    /// What a tick means for the sources on air.
    package struct Outcome: Sendable, Hashable {
        /// The sources of which only key frames are decoded from the next tick on.
        package var keyFramesOnly: KeyFrameSources
        /// What the canvas shows from this tick on; nil if that is as it was at the tick before. At first it is current, and no
        /// source is passed through.
        package var canvas: SnapshotService.Canvas?
        /// The source that has to be asked for a key frame; nil if there is none.
        package var keyFrameSource: SourceID?
    }

    private struct State {
        var gate: PassthroughGate
        var need: DecodeNeed
        var lanes: [(id: SourceID, lane: CodedFrameQueue)]
        /// Removed sources whose last packets may still be passed through.
        var leaving: Set<SourceID> = []
        var hasBegun = false
        var canvas = SnapshotService.Canvas()
        /// The passthrough step of a tick that the encoders have not received yet.
        var step: TickPlan?
        var format: PictureFormat?
        /// First tick of this worker.
        var firstTick: Int64 = 0
        /// For each rendition: the parameter sets of its encoder together with those of the publisher that is, or was
        /// last, passed through.
        var joined: [Int: CodecParameters] = [:]
    }

    /// Id of the parameter sets that the encoder uses in renditions with passthrough. Publishers' encoders count ids
    /// from 0, so this highest id allows the parameter sets of both in one `avcC`. Spec: H.264 §7.4.2.1.1.
    package static let parameterSetID = 31

    private let ladder: EncodingStage
    private let packager: HLSPackager
    /// Whether a raw output takes every canvas.
    private let isRecorded: Bool
    private let isOffline: Bool
    private let host: LateHost
    private let state: Mutex<State>

    /// Makes the switch; nil if no rendition uses passthrough, or if the room has no HLS output.
    ///
    /// - Parameter lanes: Packet queues of the sources that the room has when it is opened.
    package init?(
        _ pipeline: Pipeline, _ ladder: EncodingStage, _ packager: HLSPackager?, lanes: [SourceID: CodedFrameQueue],
        _ host: @escaping LateHost
    ) {
        guard let output = pipeline.hls, let packager else { return nil }
        let renditions = pipeline.videoRenditions
        let targets = zip(renditions.indices, renditions).compactMap { track, rendition -> PassthroughTarget? in
            guard rendition.video.passthrough == .auto, ladder.parameters.indices.contains(track),
                let declared = AVCConfiguration(extradata: ladder.parameters[track].configuration)?.sequence
            else { return nil }
            var target = PassthroughTarget(
                track: track, width: rendition.width, height: rendition.height, profile: declared.profile,
                level: declared.level, bitrate: Int64(rendition.video.bitrate),
                maxBitrate: Int64(rendition.video.maxBitrate), bufferSize: Int64(rendition.video.bufferSize))
            target.isForWebRTC = pipeline.isForWebRTC(rendition)
            return target
        }
        guard !targets.isEmpty else { return nil }
        self.ladder = ladder
        self.packager = packager
        (self.isRecorded, self.isOffline) = (!pipeline.raws.isEmpty, pipeline.clock == .offline)
        self.host = host
        self.state = Mutex(
            State(
                gate: PassthroughGate(
                    targets: targets, fps: pipeline.canvas.fps, gopFrames: output.gopFrames,
                    segmentFrames: output.segmentFrames, partFrames: output.partFrames),
                need: DecodeNeed(fps: pipeline.canvas.fps), lanes: lanes.map { ($0, $1) }))
        for lane in lanes.values { lane.open() }
    }

    /// Adds a source. Must be called before the source's thread runs.
    package func add(_ id: SourceID, _ lane: CodedFrameQueue) {
        lane.open()
        self.state.withLock { state in
            state.leaving.remove(id)
            state.lanes.append((id, lane))
        }
    }

    /// Removes a source. If it is passed through, then its packets that have already arrived are still sent.
    package func remove(_ id: SourceID) {
        self.state.withLock { state in
            state.lanes.removeAll { $0.id == id }
            if !state.gate.forget(id) { state.leaving.insert(id) }
        }
    }

    /// Processes the next tick, before its audio and its frame are passed to the encoders.
    ///
    /// - Parameter isStillWanted: Whether a still of the current canvas is requested.
    package func step(_ tick: Int64, _ view: FullCanvasSource, isStillWanted: Bool) -> Outcome {
        let (step, need, canvas) = self.state.withLock {
            state -> (PassthroughGate.Step, DecodeNeed.Decision, SnapshotService.Canvas?) in
            if !state.hasBegun {
                state.gate.begin(at: tick, opening: self.packager.opening)
                state.firstTick = tick
            }
            state.hasBegun = true
            for index in state.lanes.indices {
                let source = state.lanes[index]
                for item in source.lane.takeAll() { state.gate.receive(source.id, Self.checked(item)) }
            }
            let format = view.format ?? state.format
            let isResized =
                state.format.map { $0.width != format?.width || $0.height != format?.height } ?? false
            state.format = format
            var step = state.gate.step(
                tick, PassthroughGate.Facts(solo: view.source, isResized: isResized, isFresh: view.isFresh))
            self.join(&step, &state)
            state.step = Self.joined(state.step, step.step)
            if let passed = state.leaving.first, state.gate.forget(passed) { state.leaving.remove(passed) }
            let need = self.decide(&state, tick, view, isStillWanted)
            let before = state.canvas
            state.canvas = SnapshotService.Canvas(
                isCurrent: need.isCanvasCurrent, passed: state.gate.current?.source)
            return (step, need, state.canvas == before ? nil : state.canvas)
        }
        if step.isCut { self.packager.cut(at: tick, isBreak: step.isBreak, recoding: self.recoding(step)) }
        self.foresee(tick)
        if let change = step.change { self.host()?.outputs.report(change) }
        return Outcome(
            keyFramesOnly: need.keyFramesOnly, canvas: canvas, keyFrameSource: step.keyFrameSource)
    }

    /// Decides which frames of the sources on air are decoded from the next tick on.
    private func decide(
        _ state: inout State, _ tick: Int64, _ view: FullCanvasSource, _ isStillWanted: Bool
    ) -> DecodeNeed.Decision {
        // In an offline job, stills show the last key frame: at which tick passthrough ends depends on what is decoded, and
        // must not depend on when a still is requested.
        var facts = DecodeNeed.Facts(
            passed: nil, isEncoded: true, isRecorded: self.isRecorded, isStillWanted: isStillWanted && !self.isOffline,
            isFresh: view.areAllFresh)
        if let (track, source) = state.gate.current {
            // An offline program waits until the frames that it needs again are decoded.
            facts.passed = self.isOffline ? (state.gate.isSteady ? source : nil) : state.gate.sureSource
            // Without a sure source, passthrough may end at any tick.
            facts.isEncoded = facts.passed == nil || self.ladder.control.encodes(otherThan: track)
        } else if !self.isOffline {
            facts.isEncoded = self.ladder.control.encodes()
        }
        var decision = state.need.step(tick, facts)
        if self.isOffline { decision.isCanvasCurrent = true }
        return decision
    }

    /// Replaces parameter sets of which no initialization segment can be made by an empty configuration, so that the
    /// stream is never passed through.
    private static func checked(_ item: ProgramPacket) -> ProgramPacket {
        guard case .configuration(let parameters) = item, parameters.codec == .h264,
            AVCConfiguration(extradata: parameters.configuration) == nil
        else { return item }
        return .configuration(CodecParameters(codec: .h264, configuration: []))
    }

    /// When a publisher's stream starts to pass, players receive its parameter sets together with those of the encoder.
    /// Then they need no new initialization segment when the stream ends or starts again.
    private func join(_ step: inout PassthroughGate.Step, _ state: inout State) {
        guard case .began(let track, _)? = step.change, let stream = step.step.pass?.stream else { return }
        let joined = self.joined(track, stream.parameters)
        state.joined[track] = joined
        step.step.pass?.stream?.initialization = joined
    }

    /// The parameter sets of the encoder and of a publisher in one record; nil if one record cannot hold both, so that
    /// each needs its own initialization segment.
    private func joined(_ track: Int, _ publisher: CodecParameters) -> CodecParameters? {
        let (own, other) = (
            AVCConfiguration(extradata: self.ladder.parameters[track].configuration),
            AVCConfiguration(extradata: publisher.configuration)
        )
        guard let own, let other, let both = own.joined(with: other) else { return nil }
        return CodecParameters(codec: .h264, configuration: both.record)
    }

    /// Adds the parameter sets of a publisher that is already connected to the first initialization segment, before
    /// anything is listed. Players that accept no second initialization segment, such as FFmpeg's, can then play the
    /// whole room.
    private func foresee(_ tick: Int64) {
        // A successor's first segment was already listed by the previous worker.
        guard !self.packager.hasPublishedBefore else { return }
        let news = self.state.withLock { state -> [(track: Int, parameters: CodecParameters, firstTick: Int64)] in
            guard tick - state.firstTick < Self.foresight else { return [] }
            return state.gate.targets.compactMap { target in
                guard state.joined[target.track] == nil, let publisher = state.gate.foreseen(target.track),
                    let joined = self.joined(target.track, publisher)
                else { return nil }
                state.joined[target.track] = joined
                return (target.track, joined, state.firstTick)
            }
        }
        for change in news {
            let settings = self.ladder.renditions[change.track].settings
            // If this fails, then it fails again when the packets pass, and is reported then.
            try? self.packager.configure(
                track: change.track, change.parameters, width: settings.width, height: settings.height,
                firstTick: change.firstTick)
        }
    }

    /// Number of first ticks in which no encoder can have finished a part yet.
    private static let foresight: Int64 = 3

    /// The new format of the rendition's packets after passthrough has begun or ended; nil if neither has happened.
    private func recoding(_ step: PassthroughGate.Step) -> HLSPackager.Recoding? {
        switch step.change {
        case .began(let track, _):
            return step.step.pass?.stream.map {
                HLSPackager.Recoding(
                    track: track, parameters: $0.initialization ?? $0.parameters, width: $0.width, height: $0.height)
            }
        case .ended(let track, _, _):
            let joined = self.state.withLock { $0.joined[track] }
            return HLSPackager.Recoding(
                track: track, parameters: joined ?? self.ladder.parameters[track],
                width: self.ladder.renditions[track].settings.width,
                height: self.ladder.renditions[track].settings.height)
        case nil: return nil
        }
    }

    /// Passes the tick's frame, with its passthrough step, to the encoders.
    ///
    /// - Returns: False if the encoders' queue was full. The frame is then lost, but no passed packets.
    package func put(_ picture: Picture, tick: Int64) -> Bool {
        let step = self.state.withLock { $0.step.take() }
        if self.ladder.put(picture, tick: tick, step: step) { return true }
        if let step { self.state.withLock { $0.step = Self.joined(step, $0.step) } }
        return false
    }

    /// Ends the passthrough at the end of the program. `tick` is the first tick after it.
    package func ended(at tick: Int64) {
        let isOpen = self.state.withLock { $0.hasBegun && $0.gate.isOpen(at: tick) }
        if isOpen { self.packager.cut(at: tick, isBreak: false) }
    }

    /// Joins the passthrough steps of two ticks, because the frame of the first was lost.
    private static func joined(_ before: TickPlan?, _ after: TickPlan?) -> TickPlan? {
        guard var pass = before?.pass, var step = after else { return after ?? before }
        if let next = step.pass, next.track == pass.track {
            pass.packets += next.packets
            pass.stream = next.stream ?? pass.stream
            pass.isLast = next.isLast
        } else {
            pass.isLast = true
        }
        step.pass = pass
        return step
    }

    /// Sets new bit rates of a rendition; see ``PassthroughGate/setRates(_:track:)``. May be called on any thread.
    package func setRates(_ rates: BitRates, track: Int) {
        self.state.withLock { $0.gate.setRates(rates, track: track) }
    }

    /// Whether packets of a source pass through to a rendition. May be called on any thread.
    package func isPassing(_ source: SourceID) -> Bool { self.state.withLock { $0.gate.current?.source == source } }

    /// The passthrough of a rendition for the API: the source that is passed through, or the reason why none is; null
    /// if passthrough is off.
    package func json(of rendition: String) -> JSONValue {
        guard let track = self.ladder.renditions.firstIndex(where: { $0.name == rendition }) else { return .null }
        let (current, reason) = self.state.withLock { ($0.gate.current, $0.gate.reason(track)) }
        if reason == .off { return .null }
        let source = current?.track == track ? current?.source : nil
        return ["uid": JSONValue(source?.description), "reason": JSONValue(reason?.rawValue)]
    }
}

extension OutputServices {
    /// Emits that a publisher's packets have begun, or no longer, pass through to a rendition. Called on the program
    /// thread.
    fileprivate func report(_ change: PassthroughGate.Change) {
        switch change {
        case .began(let track, let source):
            self.events.emit(
                "passthrough.began",
                ["rendition": .string(self.stages.ladder.renditions[track].name), "uid": .string(source.description)])
        case .ended(let track, let source, let cause):
            self.events.emit(
                "passthrough.ended",
                [
                    "rendition": .string(self.stages.ladder.renditions[track].name), "uid": .string(source.description),
                    "cause": .string(cause.rawValue),
                ])
        }
    }
}
