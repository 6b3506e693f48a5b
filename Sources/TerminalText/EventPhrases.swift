/// The phrases of all event types. A test compares them with the declarations of the events.
enum EventPhrases {
    /// Event types that are not printed for people, because they are frequent and only for programs.
    static let hidden: Set<String> = ["audio.levels"]

    static let all: [String: EventPhrase] = Dictionary(
        [
            Self.room, Self.program, Self.sources, Self.ingest, Self.outputs, Self.recordings, Self.worker,
        ].joined()
    ) { first, _ in first }

    private typealias Phrases = [(String, EventPhrase)]

    private static let room: Phrases = [
        ("room.ready", EventPhrase("room", "ready[, scene {scene}]", .good)),
        ("room.state", EventPhrase("room", "{to}[, because of {cause}][: {reason}] (was {from})", .roomState)),
        (
            "room.resumed",
            EventPhrase(
                "room",
                "continues with earlier commands: {restored|count} restored[, {notRestored|count} not restored]")
        ),
        ("room.changed", EventPhrase("room", "revision {revision} of its document[: {applied}]")),
        ("room.ending", EventPhrase("room", "ending: {reason}[ ({code})]", .strong)),
        ("room.draining", EventPhrase("room", "stopping for a successor: {reason}", .strong)),
        ("room.superseded", EventPhrase("room", "a newer worker serves the room; this one stops", .warning)),
        (
            "room.closed",
            EventPhrase(
                "room",
                "closed: {outcome}[, {reason}][ ({code})][, recording {recording}][lostSegments?, {lostSegments} segments lost]"
                    + "[, still to do: {unfinished}][, {damage}]", .strong)
        ),
        ("room.settled", EventPhrase("room", "the remaining work is done")),
    ]

    private static let program: Phrases = [
        ("program.started", EventPhrase("program", "started, time zero is {origin}", .good)),
        (
            "program.scene",
            EventPhrase("program", "scene {scene} from {appliesAt|clock}: {reason}[, without {without}]")
        ),
        ("program.failed", EventPhrase("program", "scene {scene} cannot be shown: {reason}", .bad)),
        ("scene.changed", EventPhrase("scene {scene}", "changed[, revision {revision}]")),
        ("scene.removed", EventPhrase("scene {scene}", "removed")),
        ("scene.layout", EventPhrase("scene {scene}", "shows {live|count} sources[: {live}]")),
        ("pk.ready", EventPhrase("pk", "every source of scene {scene} is live", .good)),
        ("pk.countdown", EventPhrase("pk", "countdown[ until {endsAt|clock}]")),
        ("pk.started", EventPhrase("pk", "started[, until {endsAt|clock}]", .strong)),
        ("pk.punish", EventPhrase("pk", "punishment[ until {endsAt|clock}]")),
        ("pk.ended", EventPhrase("pk", "ended[: {reason}][, source {uid}]", .strong)),
        ("metadata.taken", EventPhrase("metadata", "{kind} {id} at frame {tick}", .dim)),
        ("overlay.started", EventPhrase("overlay {overlay}", "play {playId} on air at frame {tick}")),
        ("overlay.ended", EventPhrase("overlay {overlay}", "play {playId} ended: {reason}[, {error}]")),
        ("audio.levels", EventPhrase("audio", "loudness {program.momentary} LUFS", .dim)),
        ("audio.speaking", EventPhrase("source {uid}", "speaking: {speaking}[, at {at|clock}]", .dim)),
    ]

    private static let sources: Phrases = [
        ("source.connected", EventPhrase("source {uid}", "connected: {reason}")),
        ("source.publishing", EventPhrase("source {uid}", "publishing: {reason}")),
        ("source.live", EventPhrase("source {uid}", "live: {reason}[, {picture}]", .good)),
        ("source.stalled", EventPhrase("source {uid}", "stalled: {reason}", .warning)),
        ("source.lost", EventPhrase("source {uid}", "lost: {reason}", .bad)),
        (
            "source.reconnecting",
            EventPhrase("source {uid}", "waiting for it to reconnect[, until {graceUntil|clock}]: {reason}", .warning)
        ),
        ("source.lost_final", EventPhrase("source {uid}", "gone: {reason}", .bad)),
        ("source.ended", EventPhrase("source {uid}", "ended: {reason}")),
        (
            "source.first_frame",
            EventPhrase("source {uid}", "first frame: {picture}[, {sinceKeyFrameMs} ms after its key frame]", .dim)
        ),
        ("source.sound", EventPhrase("source {uid}", "first audio", .dim)),
        ("source.noise_suppression", EventPhrase("source {uid}", "noise suppression {state}: {reason}", .warning)),
        ("source.format", EventPhrase("source {uid}", "now {picture}")),
        (
            "source.reanchored",
            EventPhrase("source {uid}", "its timestamps were mapped anew[: {reason}][, {count} times]", .warning)
        ),
        ("source.undecodable", EventPhrase("source {uid}", "cannot be decoded: {reason}", .bad)),
        ("source.failed", EventPhrase("source {uid}", "cannot be read: {reason}", .bad)),
        (
            "source.health",
            EventPhrase("source {uid}", "health {level|level}[: {causes}] (was {was|level})", .level("level"))
        ),
        ("source.added", EventPhrase("source {uid}", "added[: {name}]")),
        ("source.removed", EventPhrase("source {uid}", "removed[wasPublishing?, its publisher was disconnected]")),
        (
            "source.changed",
            EventPhrase(
                "source {uid}",
                "settings changed[, volume {volume} %][, audible: {audioPush}][, visible: {videoPush}]"
                    + "[, shifted by {offsetMs} ms][, turned by {rotation} degrees]")
        ),
        (
            "source.kicked",
            EventPhrase(
                "source {uid}", "kicked[refuseSeconds?, refused for {refuseSeconds} s]", .warning)
        ),
        ("source.moderated", EventPhrase("source {uid}", "{action} by moderation: {reason}", .warning)),
        ("source.recording_started", EventPhrase("source {uid}", "recording into {path}", .good)),
        (
            "source.recording_finished",
            EventPhrase("source {uid}", "recording ended: {reason}, {durationMs|seconds} in {path}[, {bytes|size}]")
        ),
        (
            "source.recording_skipped",
            EventPhrase("source {uid}", "its {kind} is not recorded: {reason}", .warning)
        ),
        ("source.recording_failed", EventPhrase("source {uid}", "its recording cannot be written: {reason}", .bad)),
        (
            "source.recording_dropped",
            EventPhrase("source {uid}", "its recording has lost {video} video and {audio} audio frames", .warning)
        ),
        ("source.quarantined", EventPhrase("source {uid}", "refused until {until|clock}: {reason}", .bad)),
        ("rendition.asleep", EventPhrase("rendition {rendition}", "nobody watches it: it is not encoded")),
        ("rendition.awake", EventPhrase("rendition {rendition}", "encoded again: {cause}")),
        ("passthrough.began", EventPhrase("source {uid}", "its video is passed through as {rendition}")),
        ("passthrough.ended", EventPhrase("source {uid}", "{rendition} is encoded again: {cause}")),
    ]

    private static let ingest: Phrases = [
        (
            "ingest.publishing",
            EventPhrase("source {uid}", "publisher {remote} accepted[, {encoder}][takeover?, it replaces another one]")
        ),
        ("ingest.unpublished", EventPhrase("source {uid}", "publisher has ended its stream: {reason}")),
        ("ingest.lost", EventPhrase("source {uid}", "connection lost: {reason}", .warning)),
        (
            "ingest.refused",
            EventPhrase(
                "publisher", "{remote} refused: {reason}[, key {key}] ({code})[untold?, and {untold} more]", .warning)
        ),
        (
            "ingest.flapping",
            EventPhrase("source {uid}", "two encoders publish with its key and replace each other", .warning)
        ),
        (
            "ingest.hookFailed",
            EventPhrase("source {uid}", "publish webhook failed: {reason}[allowed?; admitted anyway]", .bad)
        ),
        ("ingest.hookSecretRenewed", EventPhrase("ingest", "secret of the publish webhook read again")),
        (
            "ingest.hookSecretRefused",
            EventPhrase("ingest", "secret of the publish webhook: {reason}. Fix: {fix}", .bad)
        ),
        ("ingest.keysRenewed", EventPhrase("ingest", "stream keys read again")),
        ("ingest.keysRefused", EventPhrase("ingest", "stream keys: {reason}. Fix: {fix}", .bad)),
        ("relay.connecting", EventPhrase("relay {id}", "of {uid}: connecting to {url}", .dim)),
        ("relay.live", EventPhrase("relay {id}", "of {uid}: live to {url}", .good)),
        (
            "relay.failed",
            EventPhrase("relay {id}", "of {uid} failed: {reason}[, next attempt in {retryMs|seconds}]", .bad)
        ),
        ("relay.stopped", EventPhrase("relay {id}", "of {uid} stopped: {reason}")),
        ("pull.connecting", EventPhrase("source {uid}", "connecting to {url}", .dim)),
        (
            "pull.failed",
            EventPhrase("source {uid}", "pull failed: {reason}[, next attempt in {retryMs|seconds}]", .bad)
        ),
    ]

    private static let outputs: Phrases = [
        ("broadcast.active", EventPhrase("viewers", "can play[slate?; the slate is shown]", .good)),
        ("segment.published", EventPhrase("segment {mediaSequence}", "published, {ticks} frames[slate?, slate]", .dim)),
        ("segment.lost", EventPhrase("segment {mediaSequence}", "lost in {tracks}: {reason}", .bad)),
        ("playlist.ended", EventPhrase("viewers", "the playlists are ended")),
        (
            "output.filled",
            EventPhrase(
                "viewers", "{durationMs|seconds} without a worker filled with slate, from segment {mediaSequence}",
                .warning)
        ),
        (
            "output.bandwidth",
            EventPhrase("{track}", "{measured|rate} exceeds its declared {declared|rate}", .warning)
        ),
        (
            "output.disk_low",
            EventPhrase(
                "disk", "{percent} % full, {freeBytes|size} free[, in {path}][; stopped: {stopped}]", .level("level"))
        ),
        ("output.stalled", EventPhrase("disk", "{reason}", .level("level"))),
        ("output.window", EventPhrase("disk", "number of kept segments changed[: {segments}]", .warning)),
        ("output.connecting", EventPhrase("output {outputId}", "connecting to {url}", .dim)),
        ("output.live", EventPhrase("output {outputId}", "live to {url}, {rendition}", .good)),
        ("output.stopped", EventPhrase("output {outputId}", "stopped: {reason}")),
        (
            "output.failed",
            EventPhrase("output[ {outputId}]", "failed: {reason}[, next attempt in {retryMs|seconds}]", .bad)
        ),
        ("output.restarted", EventPhrase("output {outputId}", "restarted by an operator")),
        ("output.started", EventPhrase("output {outputId}", "recording into {path}", .good)),
        (
            "output.unreachable",
            EventPhrase(
                "output {outputId}", "unreachable: {state}[: {reason}][failures?, {failures} attempts failed]",
                .level("level"))
        ),
        (
            "output.lost",
            EventPhrase("output {outputId}", "segment {mediaSequence} did not arrive, listed as {listedAs}", .bad)
        ),
        ("output.finished", EventPhrase("output {outputId}", "all files have arrived", .good)),
        ("output.unfinished", EventPhrase("output {outputId}", "files are missing: {reason}", .warning)),
        ("output.secretsRenewed", EventPhrase("output {outputId}", "credentials read again")),
        ("output.secretsRefused", EventPhrase("output {outputId}", "credentials: {reason}. Fix: {fix}", .bad)),
    ]

    private static let recordings: Phrases = [
        ("recording.finishing", EventPhrase("recording", "its files are being created in {path}")),
        ("recording.progress", EventPhrase("recording", "{bytes|size} of {of|size}", .dim)),
        ("recording.ready", EventPhrase("recording", "ready in {path}[, {recording.durationMs|seconds}]", .good)),
        ("recording.failed", EventPhrase("recording", "its files cannot be created[ in {path}]: {reason}", .bad)),
        (
            "recording.unfinished",
            EventPhrase("recording", "a later worker creates its files[ in {path}]: {reason}", .warning)
        ),
        ("recording.stopped", EventPhrase("recording", "stopped: {reason}", .bad)),
        ("recording.resumed", EventPhrase("recording", "continues; the segments since it stopped are missing", .good)),
        (
            "clip.ready",
            EventPhrase(
                "clip {clip.id}", "ready[: {clip.path}][, {clip.bytes|size}][, {clip.durationMs|seconds}]", .good)
        ),
        ("clip.failed", EventPhrase("clip {clip.id}", "failed[: {clip.reason}]", .bad)),
    ]

    private static let worker: Phrases = [
        ("alarm.set", EventPhrase("alarm {id}", "{level|level}: {reason}", .level("level"))),
        ("alarm.cleared", EventPhrase("alarm {id}", "cleared: {reason}", .good)),
        (
            "encoder.overload_step",
            EventPhrase(
                "overload",
                "step {step}[ for {rendition}] taken: {taken}, {steps} steps in force, {lagMs} ms behind the clock",
                .warning)
        ),
        (
            "encoder.fallback",
            EventPhrase("{rendition}", "libx264 encodes instead of {encoder}: {reason}. Fix: {fix}", .warning)
        ),
        ("config.invalid", EventPhrase("document", "{file} is refused: {reason}. Fix: {fix}", .bad)),
        ("config.restored", EventPhrase("document", "{file} is in force again", .good)),
        ("tls.renewed", EventPhrase("TLS {listener}", "new certificate, valid until {validUntil}", .good)),
        ("tls.refused", EventPhrase("TLS {listener}", "new certificate refused: {reason}. Fix: {fix}", .bad)),
        ("control.tokensRenewed", EventPhrase("control", "tokens read again")),
        ("control.tokensRefused", EventPhrase("control", "tokens: {reason}. Fix: {fix}", .bad)),
        ("playback.secretsRenewed", EventPhrase("viewers", "secrets of the URLs read again")),
        ("playback.secretsRefused", EventPhrase("viewers", "secrets of the URLs: {reason}. Fix: {fix}", .bad)),
        ("webhook.failing", EventPhrase("webhook", "{webhook} does not accept events: {reason}", .bad)),
        ("webhook.restored", EventPhrase("webhook", "{webhook} accepts events again", .good)),
        ("webhook.disabled", EventPhrase("webhook", "{webhook} gets no more events: {reason}", .warning)),
        ("webhook.lost", EventPhrase("webhook", "{events} events dropped for {webhook}", .bad)),
        (
            "webhook.removed",
            EventPhrase("webhook", "{webhook} removed[undelivered?, {undelivered} events not delivered]")
        ),
        ("webhook.secretsRenewed", EventPhrase("webhook", "secrets read again")),
        ("moderation.failing", EventPhrase("moderation", "the webhook does not answer stills: {reason}", .bad)),
        (
            "moderation.restored",
            EventPhrase(
                "moderation", "the webhook answers stills again[failures?, after {failures} failed attempts]", .good)
        ),
        ("webhook.secretsRefused", EventPhrase("webhook", "secrets: {reason}. Fix: {fix}", .bad)),
    ]
}
