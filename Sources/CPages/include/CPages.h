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
const char *_Nonnull tandem_control_guide_html(void);
const char *_Nonnull tandem_control_page_css(void);
const char *_Nonnull tandem_control_studio_css(void);
const char *_Nonnull tandem_control_page_js(void);
const char *_Nonnull tandem_control_dom_js(void);
const char *_Nonnull tandem_control_api_js(void);
const char *_Nonnull tandem_control_store_js(void);
const char *_Nonnull tandem_control_geometry_js(void);
const char *_Nonnull tandem_control_scene_js(void);
const char *_Nonnull tandem_control_stage_js(void);
const char *_Nonnull tandem_control_editor_js(void);
const char *_Nonnull tandem_control_inspector_js(void);
const char *_Nonnull tandem_control_sources_js(void);
const char *_Nonnull tandem_control_stills_js(void);
const char *_Nonnull tandem_control_pk_js(void);
const char *_Nonnull tandem_control_invite_js(void);
const char *_Nonnull tandem_control_capture_js(void);
const char *_Nonnull tandem_control_outputs_js(void);
const char *_Nonnull tandem_control_trouble_js(void);
const char *_Nonnull tandem_control_events_js(void);
const char *_Nonnull tandem_control_logs_js(void);
const char *_Nonnull tandem_control_header_js(void);
const char *_Nonnull tandem_control_watch_js(void);
const char *_Nonnull tandem_control_timeline_js(void);
const char *_Nonnull tandem_control_keys_js(void);
const char *_Nonnull tandem_control_openapi_json(void);
