extension Room {
    var alarms: RoomAlarms {
        RoomAlarms(
            list: self.value.part(\.alarms), incarnation: self.incarnation, wall: self.clocks.wall,
            events: self.events, saved: self.saved)
    }

    /// Determines which alarms are active, and announces changes. Called on the life thread.
    func noteAlarms() {
        let overload = self.overload.alarm
        let outputs = self.outputs.alarms()
        self.notePhase { $0.isOutputLost = !outputs.elsewhere.isEmpty }
        let (file, setAside) = self.value.withLock { ($0.configurationAlarm, $0.resumption.alarm) }
        let others = [file] + self.listeners.alarms + [self.saved.alarm, setAside, self.moderation.get()?.alarm]
        self.alarms.update(
            self.decoding.alarms(isOverloaded: overload != nil) + self.sourceRecording.alarms
                + [overload].compactMap { $0 } + self.encoderAlarms + outputs.onDisk
                + outputs.elsewhere + others.compactMap { $0 })
    }
}
