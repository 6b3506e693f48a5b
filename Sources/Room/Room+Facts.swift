package import Control
import MediaTypes
import Program
package import RoomAPI
import RoomSources

/// The room's current state for replies of the API.
extension Room {
    /// Facts that several replies use.
    package var facts: RoomFacts {
        let (phase, segments, overload) = self.value.withLock {
            ($0.status.phase.state.rawValue, $0.outputs.segments, $0.overload.overload)
        }
        let pipeline = self.pipeline
        return RoomFacts(
            pipeline, incarnation: self.incarnation, phase: phase, program: self.program, lag: self.loops.programLag,
            backlog: self.ladder.backlog, segments: segments, overload: self.overload.reply(overload)
        ) { stats in
            let roomSources = self.roomSources
            return pipeline.sources.compactMap { source in roomSources[source.id].map { self.facts(of: $0, stats) } }
        }
    }

    private func facts(of source: RoomSource, _ stats: ProgramStage.Stats) -> SourceFacts {
        let id = source.spec.id
        let (levels, messages, speakers) = self.value.withLock {
            ($0.api.levels.latest, $0.sources.data.count(of: id), $0.api.speaking.speakers)
        }
        let isSpeaking = self.pipeline.audio.speaking ? speakers.contains(id) : nil
        return SourceFacts(
            source.spec, source.status(now: self.machine.now()), decode: source.decode, buffer: source.buffer,
            stats: stats, contribution: self.program.contribution(of: id),
            ingest: self.ingestion.connections.hub(for: id)?.statistics,
            level: levels?.sources[id], isSpeaking: isSpeaking, relays: self.relaying.statuses(of: id),
            recording: self.sourceRecording.facts(of: id), refused: self.refusing.refusal(of: id),
            messages: (messages.taken, messages.dropped))
    }

    package func stateJSON(revision: Int64) -> String {
        let (lifecycle, status, outputs, levels) = self.value.withLock {
            ($0.lifecycle, $0.status, $0.outputs, $0.api.levels.latest)
        }
        let scenes = self.scenes.shown
        let facts = self.facts
        let reply = RoomReply(
            facts: facts, revision: revision, status: status, lifecycle: lifecycle, time: self.clocks.wall.now(),
            program: ProgramState(
                scene: scenes.onAir.sceneID, scenes: scenes.sceneStore.scenes.map(\.sceneID), tick: facts.tick,
                level: levels?.program),
            renditions: facts.pipeline.renditions.map { rendition in
                RenditionReply(
                    rendition: rendition, encoder: self.encoders.encoder(of: rendition),
                    measuredBitrate: outputs.bitrate(of: rendition.name, fps: facts.pipeline.canvas.fps),
                    passthrough: self.passthrough?.json(of: rendition.name) ?? .null)
            },
            latency: self.latency(of: facts, self.latencies), alarms: self.alarms.replies(),
            disk: self.outputs.disk.status, outputs: self.outputs.replies, pk: self.sceneCommands.pk)
        return reply.json.text
    }

    package func sourcesJSON() -> String { SourceListReply(self.facts.sources).json.text }

    package func sourceJSON(uid: String, streamType: String) throws(ControlFailure) -> String {
        self.facts(of: try self.source(uid, streamType), self.program.stats).json.text
    }

    package func statisticsJSON(isDebug: Bool) -> String { StatisticsReply(self.facts, isDebug: isDebug).json.text }

    package func alarmsJSON(_ state: AlarmState) -> String {
        AlarmListReply(alarms: self.alarms.replies(state)).json.text
    }

    package func metricsText() -> String {
        var metrics = RoomMetrics(self.facts, versions: self.settings.versions, events: self.events.log.last)
        metrics.add(self.outputs.pushes.addMetrics)
        if let webRTC = self.outputStages.webRTC { metrics.add(webRTC.addMetrics) }
        metrics.addViewing(self.latencies, renditions: self.ladder.renditions.map(\.name))
        let listeners = self.listeners
        metrics.add(self.encoders.addMetrics)
        metrics.add { $0.addViewers(listeners.viewerTraffic) }
        let (refusals, outputs) = self.value.withLock { ($0.sources.refusalReports, $0.outputs) }
        metrics.add(refusals.addMetrics)
        metrics.add { outputs.addMetrics(of: self.pipeline, to: &$0) }
        metrics.add(self.outputs.uploads.addMetrics)
        metrics.add { self.alarms.addMetrics(&$0, of: self.pipeline.outputs) }
        if let moderation = self.moderation.get() { metrics.add(moderation.addMetrics) }
        metrics.addWebhooks(self.delivery?.tallies ?? [])
        metrics.add { $0.addWebhookQueues(self.delivery?.backlogs ?? []) }
        metrics.add { $0.addCertificates(listeners.certificates.map { ($0.place, $0.current.validUntil) }) }
        metrics.addProcess(cpu: self.clocks.processCPU.now(), startTime: self.startTime)
        return metrics.text
    }

    /// Totals of the room so far, for its last event.
    package func summary() -> RoomSummary {
        RoomSummary(self.facts, self.latencies, cpu: self.clocks.processCPU.now())
    }
}
