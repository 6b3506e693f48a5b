/// The files that the program serves and that are part of its binary: the viewers' page, the publishers' page, the console and the
/// description of the control API. Each function returns a file's text, which ends with a NUL and lives as long as the process.
///
/// The files are compiled in as C data because the Swift compiler takes half a minute for the same bytes as array literals.
#pragma once

const char *_Nonnull tandem_viewer_page_html(void);
const char *_Nonnull tandem_viewer_page_css(void);
const char *_Nonnull tandem_viewer_requests_js(void);
const char *_Nonnull tandem_viewer_playlist_js(void);
const char *_Nonnull tandem_viewer_track_js(void);
const char *_Nonnull tandem_viewer_player_js(void);
const char *_Nonnull tandem_viewer_native_js(void);
const char *_Nonnull tandem_viewer_webrtc_js(void);
const char *_Nonnull tandem_viewer_words_js(void);
const char *_Nonnull tandem_viewer_screen_js(void);
const char *_Nonnull tandem_viewer_session_js(void);
const char *_Nonnull tandem_viewer_lowdelay_js(void);
const char *_Nonnull tandem_viewer_status_js(void);
const char *_Nonnull tandem_viewer_controls_js(void);
const char *_Nonnull tandem_viewer_seekbar_js(void);
const char *_Nonnull tandem_viewer_thumbnails_js(void);
const char *_Nonnull tandem_viewer_figures_js(void);
const char *_Nonnull tandem_viewer_captions_js(void);
const char *_Nonnull tandem_viewer_page_js(void);

const char *_Nonnull tandem_publisher_page_html(void);
const char *_Nonnull tandem_publisher_page_css(void);
const char *_Nonnull tandem_publisher_words_js(void);
const char *_Nonnull tandem_publisher_media_js(void);
const char *_Nonnull tandem_publisher_session_js(void);
const char *_Nonnull tandem_publisher_page_js(void);
const char *_Nonnull tandem_publisher_ticker_js(void);

const char *_Nonnull tandem_control_page_html(void);
const char *_Nonnull tandem_control_page_css(void);
const char *_Nonnull tandem_control_page_js(void);
const char *_Nonnull tandem_control_view_js(void);
const char *_Nonnull tandem_control_timeline_js(void);
const char *_Nonnull tandem_control_console_js(void);
const char *_Nonnull tandem_control_openapi_json(void);
