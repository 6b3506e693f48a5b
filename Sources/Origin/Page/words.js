// The page's texts in English, Korean and Chinese.

const english = {
  connecting: "Connecting", starting: "Starting", waiting: "Waiting", live: "Live", lost: "Reconnecting", left: "All streamers have left",
  interrupted: "Streamer reconnecting", ending: "Ending", ended: "Ended", replay: "Recording", failed: "Cannot play", shifted: "Behind live",
  waitingTitle: "Waiting for the first streamer", waitingText: "The room is open. Playback starts automatically when someone publishes.",
  startingTitle: "Starting", startingText: "A streamer is connected. Playback begins in a moment.",
  endedTitle: "The room has ended", nothingLeft: "There is nothing left to play.", thanks: "Thank you for watching.",
  recordingEnded: "The recording has ended", again: "Watch again", recheck: "Check again", recording: "Watch the recording",
  unreachableTitle: "The room cannot be reached", unreachableText: "Check the network. The page tries again every second.",
  unexpectedTitle: "Unexpected response from the room", unexpectedText: "HTTP {0}; trying again.",
  refusedTitle: "This link does not admit you", refusedText: "It has expired or is not valid. Ask for a new link.",
  leftTitle: "All streamers have left", leftText: "The room is still open. Playback continues when someone publishes again.",
  interruptedTitle: "The streamer is reconnecting", interruptedText: "Playback continues as soon as video arrives.",
  cannotTitle: "This browser cannot play the room", noPlayer: "It supports neither HLS nor Media Source Extensions. Use a current browser, or open the playlist URL in VLC.",
  noRendition: "It cannot decode any rendition of this room.", needsHTTPS: "An encrypted room can be played only if this page is loaded over HTTPS or from localhost.",
  lostTitle: "Connection lost", tryingAgain: "Trying again.", restartTitle: "Playback was interrupted", restartText: "Starting it again.",
  buffering: "Buffering", ready: "Ready", play: "Play", pause: "Pause", mute: "Mute", unmute: "Unmute", tapToUnmute: "Tap to unmute", volume: "Volume",
  seek: "Position in the broadcast", behind: "{0} behind live", atLive: "At the live edge", ofTotal: "{0} of {1}",
  goLive: "Back to live", catchUp: "Catch up", catchingUp: "Catching up", catchUpTitle: "Play faster until live",
  lowDelay: "Low delay", lowDelayTitle: "Play with less than a second of delay (WebRTC)",
  settings: "Settings", quality: "Quality", auto: "Auto", audioOnly: "Audio only", audio: "Audio", captions: "Captions", off: "Off", track: "Track {0}",
  listening: "Audio only", figures: "Figures", pip: "Picture in picture", full: "Full screen", exitFull: "Exit full screen",
  latency: "Latency", rendition: "Rendition", size: "Video size", buffer: "Buffer", stalls: "Stalls", dropped: "Dropped frames", player: "Player",
  playlistURL: "Playlist URL", copy: "Copy", copied: "Copied",
};

const korean = {
  connecting: "연결 중", starting: "시작 중", waiting: "대기 중", live: "라이브", lost: "다시 연결 중", left: "모든 스트리머가 나갔습니다",
  interrupted: "스트리머 재연결 중", ending: "종료 중", ended: "종료됨", replay: "녹화", failed: "재생 불가", shifted: "라이브보다 뒤",
  waitingTitle: "첫 스트리머를 기다리는 중", waitingText: "방이 열려 있습니다. 방송이 시작되면 자동으로 재생됩니다.",
  startingTitle: "시작 중", startingText: "스트리머가 연결되었습니다. 곧 재생됩니다.",
  endedTitle: "방송이 종료되었습니다", nothingLeft: "재생할 내용이 없습니다.", thanks: "시청해 주셔서 감사합니다.",
  recordingEnded: "녹화가 끝났습니다", again: "다시 보기", recheck: "다시 확인", recording: "녹화 보기",
  unreachableTitle: "방에 연결할 수 없습니다", unreachableText: "네트워크를 확인하세요. 1초마다 다시 시도합니다.",
  unexpectedTitle: "방에서 예상하지 못한 응답이 왔습니다", unexpectedText: "HTTP {0}. 다시 시도합니다.",
  refusedTitle: "이 링크로는 입장할 수 없습니다", refusedText: "만료되었거나 올바르지 않습니다. 새 링크를 요청하세요.",
  leftTitle: "모든 스트리머가 나갔습니다", leftText: "방은 아직 열려 있습니다. 방송이 다시 시작되면 이어서 재생됩니다.",
  interruptedTitle: "스트리머가 다시 연결하는 중입니다", interruptedText: "영상이 도착하면 이어서 재생됩니다.",
  cannotTitle: "이 브라우저에서는 재생할 수 없습니다", noPlayer: "HLS와 Media Source Extensions를 모두 지원하지 않습니다. 최신 브라우저를 사용하거나 VLC에서 재생목록 URL을 여세요.",
  noRendition: "이 방의 어떤 화질도 디코딩할 수 없습니다.", needsHTTPS: "암호화된 방은 HTTPS 또는 localhost에서 연 페이지에서만 재생됩니다.",
  lostTitle: "연결이 끊어졌습니다", tryingAgain: "다시 시도하는 중입니다.", restartTitle: "재생이 중단되었습니다", restartText: "다시 시작합니다.",
  buffering: "버퍼링", ready: "준비됨", play: "재생", pause: "일시정지", mute: "음소거", unmute: "음소거 해제", tapToUnmute: "눌러서 소리 켜기", volume: "음량",
  seek: "방송 위치", behind: "라이브보다 {0} 뒤", atLive: "라이브 위치", ofTotal: "{1} 중 {0}",
  goLive: "라이브로 돌아가기", catchUp: "따라잡기", catchingUp: "따라잡는 중", catchUpTitle: "라이브까지 빠르게 재생",
  lowDelay: "저지연", lowDelayTitle: "1초 미만의 지연으로 재생 (WebRTC)",
  settings: "설정", quality: "화질", auto: "자동", audioOnly: "소리만", audio: "오디오", captions: "자막", off: "끄기", track: "트랙 {0}",
  listening: "소리만 듣는 중", figures: "수치", pip: "화면 속 화면", full: "전체 화면", exitFull: "전체 화면 종료",
  latency: "지연", rendition: "화질", size: "영상 크기", buffer: "버퍼", stalls: "끊김", dropped: "누락 프레임", player: "플레이어",
  playlistURL: "재생목록 URL", copy: "복사", copied: "복사됨",
};

const chinese = {
  connecting: "正在连接", starting: "正在开始", waiting: "等待中", live: "直播", lost: "正在重新连接", left: "所有主播均已离开",
  interrupted: "主播正在重新连接", ending: "即将结束", ended: "已结束", replay: "录像", failed: "无法播放", shifted: "落后于直播",
  waitingTitle: "正在等待第一位主播", waitingText: "房间已开放。有人开播后将自动播放。",
  startingTitle: "正在开始", startingText: "主播已连接，马上开始播放。",
  endedTitle: "直播已结束", nothingLeft: "没有可播放的内容。", thanks: "感谢观看。",
  recordingEnded: "录像已播完", again: "重新观看", recheck: "再次检查", recording: "观看录像",
  unreachableTitle: "无法连接房间", unreachableText: "请检查网络。页面每秒重试一次。",
  unexpectedTitle: "房间返回了意外的响应", unexpectedText: "HTTP {0}，正在重试。",
  refusedTitle: "此链接无法进入房间", refusedText: "链接已过期或无效，请获取新的链接。",
  leftTitle: "所有主播均已离开", leftText: "房间仍然开放。有人再次开播后将继续播放。",
  interruptedTitle: "主播正在重新连接", interruptedText: "收到画面后将继续播放。",
  cannotTitle: "此浏览器无法播放", noPlayer: "它不支持 HLS 和 Media Source Extensions。请使用新版浏览器，或在 VLC 中打开播放列表网址。",
  noRendition: "它无法解码此房间的任何清晰度。", needsHTTPS: "加密的房间只能在通过 HTTPS 或 localhost 打开的页面中播放。",
  lostTitle: "连接已断开", tryingAgain: "正在重试。", restartTitle: "播放中断", restartText: "正在重新开始。",
  buffering: "缓冲中", ready: "准备就绪", play: "播放", pause: "暂停", mute: "静音", unmute: "取消静音", tapToUnmute: "点按取消静音", volume: "音量",
  seek: "直播位置", behind: "落后直播 {0}", atLive: "处于直播位置", ofTotal: "{0} / {1}",
  goLive: "回到直播", catchUp: "追赶", catchingUp: "正在追赶", catchUpTitle: "加速播放直到赶上直播",
  lowDelay: "低延迟", lowDelayTitle: "以不到一秒的延迟播放（WebRTC）",
  settings: "设置", quality: "清晰度", auto: "自动", audioOnly: "仅音频", audio: "音轨", captions: "字幕", off: "关闭", track: "轨道 {0}",
  listening: "仅播放音频", figures: "数据", pip: "画中画", full: "全屏", exitFull: "退出全屏",
  latency: "延迟", rendition: "清晰度", size: "视频尺寸", buffer: "缓冲", stalls: "卡顿", dropped: "丢帧", player: "播放器",
  playlistURL: "播放列表网址", copy: "复制", copied: "已复制",
};

export const languages = { en: english, ko: korean, zh: chinese };

/** The first of the browser's languages that the page has; English if it has none of them. */
export const language = (wanted) => wanted.map((tag) => tag.toLowerCase().split("-")[0]).find((tag) => languages[tag]) || "en";

export const current = language(navigator.languages || [navigator.language || "en"]);

/** The text `name` in the page's language, with `{0}`, `{1}` replaced. */
export const word = (name, ...values) =>
  (languages[current][name] ?? english[name] ?? name).replace(/\{(\d)\}/g, (_, index) => String(values[index] ?? ""));

/** A length in seconds as `1:02` or `1:02:03`. */
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds)), two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** Sets the texts of elements with `data-word`, `data-label` (also the tooltip) or `data-key` (the key in that tooltip). */
export function translate(root) {
  document.documentElement.lang = current === "zh" ? "zh-Hans" : current;
  for (const element of root.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
  for (const element of root.querySelectorAll("[data-label]")) label(element, element.dataset.label);
}

/** Names a control, for screen readers and as its tooltip. */
export function label(element, name) {
  const text = word(name);
  if (element.getAttribute("aria-label") !== text) element.setAttribute("aria-label", text);
  element.title = element.dataset.key ? `${text} (${element.dataset.key})` : text;
}
